"""Labelled pairs of sources (tests/data/edits/*.yml): what changed in meaning, in both directions, under any names."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator

import pytest
import tree_sitter
import tree_sitter_cuda
from edit_pairs import CASES, edits_of, flipped, in_order, pairs_of

from analyzer.change.facts import SourcePair
from analyzer.change.reversal import reverse, reverse_kind
from analyzer.change.revisions.category import is_cpp
from analyzer.findings.kinds import KINDS

CPP = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
DECLARATORS = {
    "init_declarator",
    "pointer_declarator",
    "reference_declarator",
    "array_declarator",
    "function_declarator",
}
DEFINITIONS = {
    "declaration", "parameter_declaration", "optional_parameter_declaration", "function_definition",
    "field_declaration", "for_range_loop",
}  # fmt: skip
NAMED = {"namespace_definition", "struct_specifier", "class_specifier", "preproc_def"}


def found(edits) -> list[tuple[str, str, int]]:
    return sorted((e.kind, e.symbol, e.count) for e in edits)


def own_names(texts: list[str]) -> list[str]:
    """Identifiers that the sources themselves define: functions, classes, parameters, locals, constants."""
    names: set[str] = set()
    imported: set[str] = set()
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.alias):
                imported.add((node.asname or node.name).split(".")[0])
    kept = imported | set(dir(builtins)) | set(keyword.kwlist) | {"self", "cls", "out", "BLOCK_SIZE"}
    return sorted(names - kept)


def renamed(text: str, names: dict[str, str]) -> str:
    """The text with its own identifiers exchanged; attributes of other objects and keywords of libraries stay."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.split("\n")
    for position, token in reversed(list(enumerate(tokens))):
        if token.type != tokenize.NAME or token.string not in names:
            continue
        attribute = position > 0 and tokens[position - 1].string == "." and tokens[position - 2].string != "self"
        if not attribute:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + names[token.string] + line[column + len(token.string) :]
    return "\n".join(lines)


def tokens(text: str) -> Iterator:
    """The leaves of a C++ source's tree."""
    waiting = [CPP.parse(text.encode()).root_node]
    while waiting:
        node = waiting.pop()
        if node.child_count:
            waiting += node.children
        else:
            yield node


def cpp_names(texts: list[str]) -> list[str]:
    """Identifiers that C++ sources define: functions, parameters, locals, types, namespaces, macros."""
    names: set[str] = set()
    for text in texts:
        for node in tokens(text):
            above, last = node.parent, node
            while above is not None and above.type in DECLARATORS:
                above, last = above.parent, above
            named = above is not None and above.child_by_field_name("name") == last
            declared = above is not None and last in above.children_by_field_name("declarator")
            typed = node.type == "type_identifier" and above is not None and "type_parameter" in above.type
            if (
                node.type.endswith("identifier")
                and above is not None
                and ((declared and above.type in DEFINITIONS) or (named and above.type in NAMED) or typed)
            ):
                names.add(node.text.decode())
    return sorted(names)


def cpp_renamed(text: str, names: dict[str, str]) -> str:
    """The text with its own identifiers exchanged; members of other objects stay."""
    raw = text.encode()
    for node in sorted(tokens(text), key=lambda node: -node.start_byte):
        name = node.text.decode()
        member = node.type == "field_identifier" and node.parent.type == "field_expression"
        if node.type.endswith("identifier") and name in names and not member:
            raw = raw[: node.start_byte] + names[name].encode() + raw[node.end_byte :]
    return raw.decode()


@pytest.mark.parametrize("case", CASES)
def test_pair_has_exactly_the_labelled_edits(case):
    """Kind, symbol and count of every edit, and the stated details; nothing more."""
    edits = edits_of(pairs_of(case))
    assert found(edits) == sorted((e["kind"], e["symbol"], e.get("count", 1)) for e in case["edits"])
    for label in case["edits"]:
        wanted = label.get("detail", {})
        same = [e for e in edits if (e.kind, e.symbol) == (label["kind"], label["symbol"])]
        assert any(wanted.items() <= e.detail.items() for e in same), [e.detail for e in same]
        if "path" in label:
            assert all(e.path == label["path"] for e in same)


@pytest.mark.parametrize("case", CASES)
def test_reversed_pair_has_the_reversed_edits(case):
    """edits(head, base) is the reverse of edits(base, head), word for word."""
    pairs = pairs_of(case)
    assert in_order(map(reverse, edits_of(pairs))) == edits_of(flipped(pairs))


@pytest.mark.parametrize("case", [case for case in CASES if not case.values[0].get("names_matter")])
def test_other_identifiers_give_the_same_edits(case):
    """No name of the code under analysis is evidence: opaque ones give the same kinds and counts."""
    pairs = pairs_of(case)
    cpp = all(is_cpp(p.path) for p in pairs)
    find, rename = (cpp_names, cpp_renamed) if cpp else (own_names, renamed)
    texts = [text for p in pairs for text in (p.base, p.head)]
    names = {name: f"{'test_' if name.startswith('test') else ''}zq{n}" for n, name in enumerate(find(texts))}
    others = [SourcePair(p.path, None, rename(p.base, names), rename(p.head, names)) for p in pairs]

    def symbol(name: str) -> str:
        dot = "::" if cpp else "."
        return dot.join(names.get(part, part) for part in name.split(dot))

    expected = sorted((kind, symbol(name), count) for kind, name, count in found(edits_of(pairs)))
    assert found(edits_of(others)) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_file_against_itself_has_no_edits(case):
    """Nothing is found where nothing changed."""
    same = [SourcePair(p.path, None, p.head, p.head) for p in pairs_of(case)]
    assert edits_of(same) == []


def test_the_pairs_cover_the_vocabulary():
    """Every kind, in every direction, is written out as base and head somewhere."""
    labelled = {e["kind"] for case in CASES for e in case.values[0]["edits"]}
    never = {"synchronization-changed"}  # a wait has no value that could change
    assert set(KINDS) - labelled == never


@pytest.mark.parametrize(
    "kind, other",
    [
        ("cast-added", "cast-removed"), ("in-place-removed", "in-place-introduced"),
        ("guard-widened", "guard-narrowed"),
        ("low-precision-round-trip-introduced", "low-precision-round-trip-removed"),
        ("stride-assumed", "stride-honoured"), ("function-extracted", "function-inlined"),
        ("test-skipped", "test-unskipped"), ("launch-changed", "launch-changed"),
    ],
)  # fmt: skip
def test_kinds_have_one_opposite(kind, other):
    """Swapping twice gives the kind back."""
    assert reverse_kind(kind) == other
    assert reverse_kind(other) == kind
