"""A report as files: report.json, and the same facts as Markdown in both languages."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Template

from analyzer.model.report import Report
from analyzer.report.markdown import Markdown, cell, code, fence, plain, prose
from analyzer.report.phrases import LANGUAGES, sandbox
from analyzer.report.sections import Shape
from analyzer.report.view import view

_PAGE = re.compile(r"https://[\w.-]+/[\w.-]+/[\w.-]+/(?:pull/\d+|commit/[0-9a-f]{40})")


def write(report: Report, out: Path, shape: Shape | None = None) -> list[Path]:
    """Write report.json, report.en.md and report.zh.md into the folder `out`, which is made where it is missing."""
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / "report.json", *(out / f"report.{lang}.md" for lang in LANGUAGES)]
    report.dump(paths[0])
    for path, lang in zip(paths[1:], LANGUAGES, strict=True):
        path.write_text(markdown(report, lang, shape), encoding="utf-8")
    return paths


def markdown(report: Report, lang: str, shape: Shape | None = None) -> str:
    """The report as Markdown in one language, with all sections where no shape is given."""
    return _template(lang).render(view(report, lang, shape or Shape())).strip() + "\n"


@cache
def _template(lang: str) -> Template:
    source = (files("analyzer.templates") / f"report.{lang}.md.j2").read_text(encoding="utf-8")
    environment = sandbox()
    environment.filters.update(prose=prose, cell=cell, code=code, fence=fence, link=_link)
    # Numbers and Markdown are printed as they are; anything else is somebody's text until a filter says otherwise.
    environment.finalize = lambda value: value if isinstance(value, Markdown | int | float) else plain(value)
    return environment.from_string(source)


def _link(url: str) -> Markdown:
    """A page of a pull request or a commit as a link; another address as code."""
    return Markdown(f"<{url}>") if _PAGE.fullmatch(url) else code(url)
