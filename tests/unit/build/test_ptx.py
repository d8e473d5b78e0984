"""Normalised PTX: the same kernel at another place is the same, another kernel is not."""

import pytest

pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.build.worker.launches import normalised

PTX = """
.version 8.4
.target sm_90a
// a comment
.visible .entry my_kernel(
	.param .u64 .ptr .global .align 1 my_kernel_param_0
)
{
	.loc	1 31 0                          // sampler.py:31:0
$L__func_begin0:
	ld.param.u64 %rd1, [my_kernel_param_0];
$L__tmp0:
	.loc	1 32 5
	add.f32 %f1, %f2, %f3;
	ret;
}
	.file	1 "/a/sampler.py"
	.section	.debug_abbrev
	{
.b8 1
	}
"""


def test_path_lines_comments_and_name_do_not_matter():
    """Another file, other lines, no comments, another name: the same."""
    moved = (
        PTX.replace("/a/sampler.py", "/b/other.py")
        .replace(".loc	1 32 5", ".loc	1 99 7")
        .replace("// a comment", "")
    )
    renamed = moved.replace("my_kernel", "their_kernel").replace(".b8 1", ".b8 2")
    assert normalised(PTX, "my_kernel") == normalised(renamed, "their_kernel")


def test_an_instruction_matters():
    """One changed instruction: not the same."""
    assert normalised(PTX, "my_kernel") != normalised(PTX.replace("add.f32", "sub.f32"), "my_kernel")


def test_what_is_kept():
    """Instructions and parameters stay, debug sections go."""
    text = normalised(PTX, "my_kernel")
    assert "add.f32 %f1, %f2, %f3;" in text
    assert "KERNEL_param_0" in text
    assert ".debug_abbrev" not in text
    assert ".b8" not in text
