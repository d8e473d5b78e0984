"""The commands. The only place that prints.

Exit codes: 0 done; 1 our own failure; 2 usage; 3 nothing to analyze; with --fail-on, 11 low, 12 medium, 13 high,
14 critical.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from analyzer import __version__, catalogue, pipeline
from analyzer import demo as demonstration
from analyzer import doctor as examination
from analyzer.bundle import Bundle
from analyzer.errors import AnalyzerError
from analyzer.findings.engine import load_rules
from analyzer.history.subject import read_conversation
from analyzer.model.base import LEVELS
from analyzer.model.report import Report
from analyzer.plan import Request
from analyzer.report.terminal import show
from analyzer.rule_page import page
from analyzer.settings import settle

FAIL_CODES = {"low": 11, "medium": 12, "high": 13, "critical": 14}

app = typer.Typer(
    name="analyze",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measures what a change to GPU sampling and kernel code does, and says merge, hold or revert. "
    "`analyze REV` is short for `analyze run REV`.",
)

Rev = Annotated[str, typer.Argument(metavar="REV", help="The revision to analyze: any name that Git resolves.")]
BundleFile = Annotated[Path, typer.Argument(metavar="BUNDLE", help="What `analyze plan` wrote.")]
Base = Annotated[str | None, typer.Option(metavar="REV", help="The exact other end. Default: REV's first parent.")]
Repo = Annotated[Path, typer.Option(metavar="PATH", help="A work tree or a bare repository.")]
Profile = Annotated[str | None, typer.Option(metavar="NAME", help="See `analyze profiles`. Default: detected.")]
Conversation = Annotated[Path | None, typer.Option(metavar="FILE", help="The PR's conversation, as JSON.")]
Lang = Annotated[str | None, typer.Option(metavar="en|zh", help="The terminal's language; files come in both.")]
Device = Annotated[
    str | None, typer.Option(metavar="auto|cuda|cpu|none", help="Where checks run; none: the static part only.")
]
Budget = Annotated[str | None, typer.Option(metavar="TIME", help="For the checks: 90s, 10m, 1h. Default: 10m.")]
Only = Annotated[str | None, typer.Option(metavar="CHECK,…", help="Only these checks.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of every random input. Default: 0.")]
FailOn = Annotated[
    str | None,
    typer.Option(metavar="LEVEL", help="Exit with 11 low, 12 medium, 13 high or 14 critical from this risk level on."),
]
AsJson = Annotated[bool, typer.Option("--json", help="For machines: JSON on standard output, and nothing else there.")]


@app.command("run")
def run_command(
    rev: Rev,
    base: Base = None,
    repo: Repo = Path("."),
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the report goes. Default: reports/<first 10 of head>.")
    ] = None,
    lang: Lang = None,
    device: Device = None,
    profile: Profile = None,
    pr_json: Conversation = None,
    budget: Budget = None,
    only: Only = None,
    seed: Seed = None,
    fail_on: FailOn = None,
    as_json: AsJson = False,
) -> int:
    """The whole job: plan, check, report.

    Writes report.json, report.en.md and report.zh.md to --out, with the bundle and the evidence that they rest on.
    """
    checks = {"device": device, "budget": budget, "only": only, "seed": seed}
    flags = {**checks, "profile": profile, "fail_on": fail_on, "lang": lang}
    request = Request(rev, base, flags, read_conversation(pr_json) if pr_json else None)
    with _progress() as progress:
        outcome = pipeline.run(repo, request, out, progress)
    return _told(outcome, as_json)


@app.command("plan")
def plan_command(
    rev: Rev,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="BUNDLE", help="The tar.gz to write.")],
    base: Base = None,
    repo: Repo = Path("."),
    profile: Profile = None,
    pr_json: Conversation = None,
    only: Only = None,
    seed: Seed = None,
) -> None:
    """What the change means, and a bundle of all that `check` needs.

    Reads Git; runs nothing of the change.
    """
    flags = {"profile": profile, "only": only, "seed": seed, "device": "auto"}
    request = Request(rev, base, flags, read_conversation(pr_json) if pr_json else None)
    with _progress() as progress:
        bundle = pipeline.plan(repo, request, output, progress)
    print(f"{output}: {len(bundle.plan.checks)} checks, digest {bundle.digest[:12]}")


@app.command("check")
def check_command(
    bundle: BundleFile,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="EVIDENCE", help="The JSON file to write.")],
    device: Device = None,
    budget: Budget = None,
    only: Only = None,
) -> None:
    """Builds and measures both revisions of a bundle. Needs no repository, no Git, no network, no token."""
    pipeline.writable_file(output)
    read = Bundle.read(bundle)
    planned = {name: read.plan.settings.get(name) for name in ("device", "budget", "only", "architectures")}
    given = {"device": device, "budget": budget, "only": only}
    settings = settle(flags=planned | {name: value for name, value in given.items() if value is not None})
    with _progress() as progress:
        evidence = pipeline.check(read, settings, progress)
    evidence.dump(output)
    print(f"{output}: {len(evidence.checks)} check records, {len(evidence.builds)} builds")


@app.command("report")
def report_command(
    bundle: BundleFile,
    evidence: Annotated[Path | None, typer.Argument(metavar="[EVIDENCE]", help="What `analyze check` wrote.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the report goes.")] = Path("reports"),
    pr_json: Conversation = None,
    lang: Lang = None,
    fail_on: FailOn = None,
    as_json: AsJson = False,
) -> int:
    """A bundle and its evidence -> the report. Runs nothing of the change."""
    pipeline.writable(out)
    settings = settle(flags={"lang": lang, "fail_on": fail_on})
    measured = pipeline.read_evidence(evidence) if evidence else None
    conversation = read_conversation(pr_json) if pr_json else None
    built, files = pipeline.report(Bundle.read(bundle), measured, conversation, out)
    return _told(pipeline.Outcome(built, files, settings), as_json)


@app.command("doctor")
def doctor_command(as_json: AsJson = False) -> None:
    """What this machine can measure.

    Git, torch, Triton, GPU, isolation, targets to compile for, the interpreter.
    """
    with _progress() as progress:
        found = examination.examine(progress)
    if as_json:
        print(json.dumps([one._asdict() for one in found], indent=1, ensure_ascii=False))
    else:
        Console().print(examination.table(found))


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the reports go.")] = Path("reports/demo"),
    device: Device = None,
    lang: Lang = None,
) -> None:
    """Analyzes three changes of a small repository of our own."""
    console = Console()
    pipeline.writable(out)
    for title, analyze in demonstration.changes(out, {"device": device, "lang": lang}):
        console.rule(title)
        with _progress() as progress:
            outcome = analyze(progress)
        _told(outcome, as_json=False)


@app.command("rules")
def rules_command(
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="One rule, as a page.")] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """The risk rules: all as a table, or one with its reason, its examples and its source."""
    chosen = [catalogue.find_rule(name)] if name else load_rules()
    if as_json:
        rules = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in chosen]
        print(json.dumps(rules[0] if name else rules, indent=1, ensure_ascii=False))
        return
    language = settle(flags={"lang": lang}).lang
    Console().print(page(chosen[0], language) if name else catalogue.rules(language))


@app.command("profiles")
def profiles_command(name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One profile.")] = None) -> None:
    """The projects that are known, and how their symbols are probed."""
    Console().print(catalogue.profile(name) if name else catalogue.profiles())


def _told(outcome: pipeline.Outcome, as_json: bool) -> int:
    """Print an outcome; the exit code that its risk and --fail-on ask for."""
    report, settings = outcome.report, outcome.settings
    if as_json:
        print(report.model_dump_json(indent=1))
    else:
        console = Console()
        show(report, console, settings.lang)
        for file in outcome.files:
            console.print(str(file), style="dim", highlight=False, soft_wrap=True)
    return fail_code(report, settings.fail_on)


def fail_code(report: Report, fail_on: str | None) -> int:
    """11 to 14 where the level reaches `fail_on`, else 0."""
    level = report.risk.level
    reached = fail_on is not None and LEVELS.index(level) >= LEVELS.index(fail_on)
    return FAIL_CODES[level] if reached else 0


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Tells what is going on, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield lambda what: status.update(what)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main() -> None:
    """The console script: one line on standard error for whatever goes wrong."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds: children end, scratch folders go
    sys.exit(invoke(sys.argv[1:]))


def invoke(arguments: list[str]) -> int:
    """Run one command line; the exit code."""
    commands = {command.name for command in app.registered_commands}
    if arguments and arguments[0] not in {*commands, "-h", "--help", "--version"}:
        arguments = ["run", *arguments]
    try:
        code = app(arguments or ["--help"], prog_name="analyze", standalone_mode=False) or 0
        return code if arguments else 2
    except AnalyzerError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _failed("interrupted", 130)
    except Exception as error:
        if hasattr(error, "format_message"):  # the option parser's own, whichever copy of it Typer uses
            return _failed(error.format_message() or "no command", 2)
        if os.environ.get("ANALYZER_DEBUG"):
            raise
        return _failed(f"{type(error).__name__}: {error} (our fault; ANALYZER_DEBUG=1 shows where)", 1)


def _failed(message: str, code: int) -> int:
    print("analyze: " + " ".join(message.split()), file=sys.stderr)
    return code
