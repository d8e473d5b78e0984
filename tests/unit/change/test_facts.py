"""Facts of a file as a whole: unreadable sides, symbols, notes, merged counts, speed."""

from __future__ import annotations

import time

import pytest

from analyzer.change.facts import TEXT_ALONE, NoTree, SourcePair, change_edits, file_facts

SOURCE = "import torch\n\n\ndef run(x):\n    y = x.float()\n    return y * 2\n"


@pytest.mark.parametrize(
    "text",
    ["def broken(:\n", "x = '\x00'\n", "\ufeffdef run(:\n", "class\r\n", "(" * 5000],
    ids=["syntax", "null byte", "byte order mark", "carriage returns", "nesting"],
)
def test_a_side_that_does_not_parse_is_a_note(text):
    """No exception and no edit: one note that names the file."""
    for base, head in ((SOURCE, text), (text, SOURCE)):
        facts = file_facts("code.py", base, head)
        assert facts.edits == ()
        assert len(facts.notes) == 1 and "code.py" in facts.notes[0].en and "code.py" in facts.notes[0].zh


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t + "\f\n"])
def test_line_ends_and_marks_are_no_edit(change):
    """CRLF, a byte order mark and form feeds are formatting."""
    facts = file_facts("code.py", SOURCE, change(SOURCE))
    assert facts.edits == () and set(facts.notes) <= {TEXT_ALONE}


def test_lone_surrogates_and_wide_characters_keep_their_spans():
    """Spans are cut by characters although the parser counts bytes; what was no UTF-8 does not stop the reading."""
    base = "def run(x, sep='温度\udcff'):\n    return '采样', x\n"
    head = "def run(x, sep='温度\udcff'):\n    return '采样', x.float()\n"
    assert [(e.kind, e.before, e.after) for e in file_facts("code.py", base, head).edits] in (
        [("cast-added", "x", "x.float()")],
        [],
    )


def test_other_languages_have_no_edits():
    """A file that is not Python is listed with no edits of meaning."""
    assert file_facts("csrc/one.cu", "int a;", "int b;").edits == ()


def test_added_and_deleted_files():
    """A new file's functions are added, a deleted file's removed; what they do inside is no edit."""
    assert [e.kind for e in file_facts("code.py", None, SOURCE).edits] == ["function-added"]
    assert [e.kind for e in file_facts("code.py", SOURCE, None).edits] == ["function-removed"]


def test_a_renamed_file_keeps_its_functions():
    """Functions of a renamed file are the same functions, and edits carry the new path and the old one."""
    facts = change_edits([SourcePair("new.py", "old.py", SOURCE, SOURCE.replace(".float()", ""))], NoTree())
    (edit,) = facts["new.py"].edits
    assert (edit.kind, edit.path, edit.detail["path_before"]) == ("cast-removed", "new.py", "old.py")


def test_symbols_say_what_changed():
    """Signature, body, added, removed and constants are told apart."""
    base = "A = 1\n\n\ndef one(x):\n    return x\n\n\ndef two(x):\n    return x\n\n\ndef gone(x):\n    pass\n"
    head = "A = 2\n\n\ndef one(x, y=0):\n    return x\n\n\ndef two(x):\n    return -x\n\n\ndef new(x, y, z):\n    x()\n"
    symbols = {(s.name, s.change) for s in file_facts("code.py", base, head).symbols}
    assert symbols == {("A", "body"), ("one", "signature"), ("two", "body"), ("gone", "removed"), ("new", "added")}


def test_other_names_of_locals_are_told_from_other_code():
    """A body under other names of its locals is `names`; one that uses them otherwise, or nests otherwise, is not."""
    base = "def f(x):\n    a = x + 1\n    if x:\n        g()\n        b = a * 2\n    return a - b\n"
    heads = {
        "names": base.replace("a =", "c =").replace("a *", "c *").replace("a -", "c -"),
        "swapped": base.replace("a =", "c =").replace("a *", "c *").replace("a - b", "b - c"),
        "nested": base.replace("a =", "c =").replace("        b = a *", "    b = c *").replace("a -", "c -"),
    }
    found = {name: [s.change for s in file_facts("code.py", base, head).symbols] for name, head in heads.items()}
    assert found == {"names": ["names"], "swapped": ["body"], "nested": ["body"]}
    assert not file_facts("code.py", base, heads["names"]).edits


def test_a_renamed_keyword_is_noted_in_both_languages():
    """A parameter that callers may name by keyword is said as a note; a kernel's is not."""
    facts = file_facts("code.py", "def f(a):\n    return a + 1\n", "def f(b):\n    return b + 1\n")
    assert [e.kind for e in facts.edits] == ["parameter-changed"]
    assert "`b`" in facts.notes[0].en and "`b`" in facts.notes[0].zh


def test_large_files_are_read_quickly():
    """Two thousand functions of which one changed take well under two seconds."""
    one = "def f{n}(x):\n    y = x.float()\n    z = y * {n}\n    return z\n\n\n"
    base = "".join(one.format(n=n) for n in range(2000))
    head = base.replace("z = y * 1500\n", "z = y.half() * 1500\n")
    start = time.process_time()
    facts = file_facts("code.py", base, head)
    assert [(e.kind, e.symbol) for e in facts.edits] == [("cast-added", "f1500")]
    assert time.process_time() - start < 2


def test_a_helper_is_cut_out_into_its_own_class():
    """Of two new methods of one name, the one beside the code that it was cut out of is the extracted one."""
    body = "        y = x.float()\n        z = torch.softmax(y, dim=-1)\n        w = torch.cumsum(z, dim=-1)\n"
    base = f"import torch\n\n\nclass A:\n    def go(self, x, k):\n{body}        return w > k\n"
    head = (
        f"import torch\n\n\nclass A:\n    def part(self, x):\n{body}        return w\n\n"
        "    def go(self, x, k):\n        return self.part(x) > k\n"
    )
    other = f"import torch\nfrom a import A\n\n\nclass B(A):\n    def part(self, x):\n{body}        return w + 1\n"
    pairs = [SourcePair("a.py", None, base, head), SourcePair("b.py", None, "import torch\n", other)]
    facts = change_edits(pairs, NoTree())
    assert [(e.kind, e.symbol) for e in facts["a.py"].edits if e.kind.startswith("function")] == [
        ("function-extracted", "A.part")
    ]
    assert "function-extracted" not in {e.kind for e in facts["b.py"].edits}


def test_which_of_several_writes_became_which_is_not_guessed():
    """A place that one version writes twice and the other three times is not computed otherwise."""
    one = 'def f(s, x):\n    s["at"] = x\n    go(s)\n    s["at"] = x + 1\n'
    more = 'def f(s, x):\n    s["at"] = x\n    go(s)\n    s["at"] = -x\n    end(s)\n    s["at"] = x * 2\n'
    for base, head in ((one, more), (more, one)):
        kinds = {e.kind for e in file_facts("code.py", base, head).edits}
        assert kinds and "value-changed" not in kinds


@pytest.mark.parametrize(
    ("base", "head", "alike"),
    [
        ("x = 1  # one\n", "x = 1\n", True),
        ('def f():\n    """One."""\n    return 1\n', 'def f():\n    """Another."""\n\n    return (1)\n', True),
        ("x = 1\n", "x: int = 1\n", False),
        ("import a\nimport b\n", "import b\nimport a\n", False),
        ("if a:\n    import x\nelse:\n    import y\n", "if b:\n    import x\nelse:\n    import y\n", False),
    ],
)
def test_only_one_and_the_same_program_is_said_to_be_that(base: str, head: str, alike: bool) -> None:
    """A note says that comments, docstrings or layout alone changed where that is so, and nowhere else."""
    assert (TEXT_ALONE in file_facts("code.py", base, head).notes) is alike


def test_what_moved_into_a_method_of_the_same_name_is_not_gone():
    """A caller that hands its work to another object's method of its own name still has it done."""
    worker = "class Worker:\n    def fit(self, length):\n        self.seen = length\n        self.runner"
    runner = "class Runner:\n    def __init__(self):\n        self.length = 0\n"
    pairs = [
        SourcePair("worker.py", None, worker + ".length = length\n", worker + ".fit(length)\n"),
        SourcePair("runner.py", None, runner, runner + "\n    def fit(self, length):\n        self.length = length\n"),
    ]
    kinds = [e.kind for facts in change_edits(pairs, NoTree()).values() for e in facts.edits]
    assert sorted(kinds) == ["function-added", "statement-added"]


def test_a_new_file_without_code_has_no_other_side_to_be_the_same_as() -> None:
    """A file of comments that came or went is told as added or deleted alone."""
    assert file_facts("code.py", None, "# nothing\n").notes == file_facts("code.py", "# nothing\n", None).notes == ()
