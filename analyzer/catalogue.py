"""Rules and profiles as tables for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from analyzer import profiles as known
from analyzer.errors import UsageError
from analyzer.findings.engine import load_rules


def rules() -> Table:
    table = Table("rule", "family", "severity", "title", box=None)
    for one in load_rules():
        table.add_row(one.id, one.family, one.severity, one.title.en)
    return table


def rule(name: str) -> RenderableType:
    """One rule in full: what it matches, why that is a risk, what to do instead, and its two examples."""
    found = next((one for one in load_rules() if one.id == name), None)
    if found is None:
        raise UsageError(f"no rule {name!r}; `analyze rules` lists them")
    parts: list[RenderableType] = [
        Text(f"{found.id} · {found.family} · {found.severity}", style="bold"),
        Text(f"{found.title.en} / {found.title.zh}"),
        Text(f"Matches: {', '.join(found.match.kinds)}"),
        Text(f"Why: {found.why.en}"),
        Text(f"Instead: {found.instead.en}"),
    ]
    if found.example:
        for title, example in (("matches", found.example.matches), ("does not match", found.example.counter)):
            for side, code in (("before", example.before), ("after", example.after)):
                if code:
                    parts += [Text(f"\n{title}, {side}:", style="dim"), Syntax(code.rstrip(), "python")]
    return Group(*parts)


def profiles() -> Table:
    table = Table("profile", "detected by", "probes", box=None)
    for name in known.names():
        profile = known.load(name)
        table.add_row(name, ", ".join(profile.detect) or "any repository", str(len(profile.probes)))
    return table


def profile(name: str) -> RenderableType:
    """The probes of one profile: what each calls, the changes that call for it, and what is checked."""
    probes = known.load(name).probes
    if not probes:
        return Text(f"{name} has no probes of its own; a repository declares its probes in .analyzer.yml")
    parts: list[RenderableType] = []
    for probe in probes:
        parts.append(Text(probe.name, style="bold"))
        table = Table(box=None, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row("target", probe.target)
        table.add_row("covers", ", ".join(probe.covers))
        table.add_row("checks", ", ".join(probe.checks))
        parts.append(table)
    return Group(*parts)
