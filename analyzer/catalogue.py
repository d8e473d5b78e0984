"""Rules and profiles for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analyzer import profiles as known
from analyzer.errors import UsageError, nearest
from analyzer.findings.engine import load_rules
from analyzer.findings.rule import Rule


def rules(lang: str = "en") -> Table:
    table = Table("rule", "family", "severity", "title", box=None)
    for one in load_rules():
        table.add_row(one.id, one.family, one.severity, getattr(one.title, lang))
    return table


def find_rule(name: str) -> Rule:
    """The shipped rule of an id; UsageError with the nearest ids for one that there is not."""
    known = {one.id: one for one in load_rules()}
    if name not in known:
        raise UsageError(f"no rule {name!r}{nearest(name, known) or '; `analyze rules` lists them'}")
    return known[name]


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
