"""A probe's inputs are the same bytes wherever they are made."""

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.build.worker import inputs, tensors  # noqa: E402
from analyzer.model.plan import TensorSpec  # noqa: E402


def made(**spec):
    numbers = {"rows": 6, "vocab": 5}
    return inputs.make(TensorSpec(name="x", **spec).model_dump(), numbers, "bf16", "cpu", seed=4)


def test_normal_logits_are_scaled_in_fp32_and_rounded_once():
    """The documented logits: randn from a seeded generator, times the scale, then the specialization's dtype."""
    expected = (torch.randn(6, 5, generator=torch.Generator().manual_seed(4)) * 2.5).to(torch.bfloat16)
    assert torch.equal(made(shape=["rows", "vocab"], parameters={"scale": 2.5}), expected)


@pytest.mark.parametrize(
    ("fill", "parameters", "expected"),
    [
        ("constant", {"value": 3}, [3, 3, 3, 3, 3, 3]),
        ("arange", {}, [0, 1, 2, 3, 4, 5]),
        ("arange", {"start": 2, "step": 2}, [2, 4, 6, 8, 10, 12]),
        ("repeat", {"every": 4}, [0, 0, 0, 0, 1, 1]),
        ("cycle", {"every": 4}, [0, 1, 2, 3, 0, 1]),
    ],
)
def test_counted_fills(fill, parameters, expected):
    """Each fill that draws nothing gives exactly the documented numbers."""
    assert made(shape=["rows"], dtype="int32", fill=fill, parameters=parameters).tolist() == expected


def test_columns_count_in_every_row():
    """Fill "columns" gives 0, 1, 2, ... in each row."""
    assert made(shape=[2, 3], dtype="int64", fill="columns").tolist() == [[0, 1, 2], [0, 1, 2]]


def test_none_is_no_tensor():
    """Fill "none" stands for an argument that is None."""
    assert made(fill="none") is None


@pytest.mark.parametrize("text", ["rows // 4 + 1", "-rows + 2 * vocab"])
def test_shapes_may_be_expressions(text):
    """Integer expressions over the case's numbers."""
    assert inputs.number(text, {"rows": 6, "vocab": 5}) == eval(text, {"rows": 6, "vocab": 5})


@pytest.mark.parametrize("text", ["__import__('os')", "rows.real", "rows ** 99", "[rows]"])
def test_anything_else_is_refused(text):
    """An expression is arithmetic and nothing more."""
    with pytest.raises((ValueError, KeyError)):
        inputs.number(text, {"rows": 6})


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_raw_tensors_come_back_bit_for_bit(tmp_path, dtype):
    """Write and read are inverse, a transposed view included."""
    tensor = (torch.arange(12).reshape(3, 4).T % 3).to(dtype)
    assert torch.equal(tensors.read(tensors.write(tensor, tmp_path / "x"), tmp_path), tensor)


def test_an_empty_tensor_comes_back(tmp_path):
    """Zero rows are a tensor too."""
    tensor = torch.empty(0, 4)
    assert tensors.read(tensors.write(tensor, tmp_path / "x"), tmp_path).shape == (0, 4)


@pytest.mark.parametrize(
    "change", [{"shape": [4, 4]}, {"dtype": "object"}, {"shape": [-3, -4]}, {"path": "../x"}, {"path": "y"}]
)
def test_a_record_that_does_not_fit_its_file_is_refused(tmp_path, change):
    """The child's word is not trusted: size, dtype, sign and place are checked."""
    inside = tmp_path / "out"
    inside.mkdir()
    (tmp_path / "x").write_bytes(b"secret" * 8)
    record = tensors.write(torch.ones(3, 4), inside / "z")
    (inside / "link").symlink_to(tmp_path / "x")
    with pytest.raises((ValueError, OSError)):
        tensors.read({**record, **change}, inside)
