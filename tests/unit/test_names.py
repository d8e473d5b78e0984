"""The program knows projects through their profiles alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analyzer import profiles

ROOT = Path(__file__).parents[2]
KNOWN = {name for name in profiles.names() if name != "generic"} | {"vllm", "sglang", "tokenspeed", "flashinfer"}
FOLDERS = ("analyzer", "kernels", "rules", "templates")
TEXT = {".py", ".yml", ".yaml", ".j2", ".json", ".toml", ".css"}


def sources() -> list[Path]:
    """Every text file that is installed, but for the profiles."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXT]
    return [path for path in found if (ROOT / "analyzer" / "profiles") not in path.parents]


def test_sources_are_found():
    """The search below sees the program: it would be empty otherwise, and would pass."""
    assert {"cli.py", "repository.py", "__init__.py"} <= {path.name for path in sources()}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_no_projects_name(name):
    """No project is named outside the profiles, so that the same change under other names gets the same report.

    A rule's source is a fact that is shown and never matched: it may be a pull request of any project.
    """
    word = re.compile(name, re.IGNORECASE)
    assert [str(path.relative_to(ROOT)) for path in sources() if word.search(matched(path))] == []


def matched(path: Path) -> str:
    """A file's text; of a file of rules, without the rules' sources."""
    text = path.read_text(encoding="utf-8")
    if path.parent.name != "rules":
        return text
    return re.sub(r"^  source:.*\n(?:    .*\n)*", "", text, flags=re.MULTILINE)
