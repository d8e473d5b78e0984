"""Errors in units in the last place."""

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.errors import Errors, ulp  # noqa: E402

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_ulp_is_the_distance_of_neighbours(dtype):
    """From 1, 1.5 and 2 the next number up is one ULP away."""
    for value in (1.0, 1.5, 2.0, 100.0):
        here = torch.tensor(value, dtype=dtype)
        up = torch.nextafter(here, torch.tensor(INF, dtype=dtype))
        assert float(ulp(torch.tensor(value, dtype=torch.float64), dtype)) == float(up) - float(here)


def test_errors_are_counted_in_ulp_of_the_scale():
    """One bf16 ULP of 1 is 2^-7; an error of three of them is 3, and lies in the bin up to 4."""
    errors = Errors()
    reference = torch.tensor([[1.0, 1.0, -INF, 2.0]], dtype=torch.float64)
    values = torch.tensor([[1.0, 1.0 + 3 * 2**-7, -INF, 2.0]])
    errors.add(values, reference, reference.abs().nan_to_num(posinf=0.0), torch.bfloat16)
    assert (errors.largest, errors.count, errors.mismatches) == (3.0, 3, 0)
    assert errors.histogram[0] == 2
    assert errors.histogram[3] == 1


def test_infinities_and_nan_are_compared_exactly():
    """A NaN for a number, a number for −inf and −inf for a number are mismatches, and no errors."""
    errors = Errors()
    reference = torch.tensor([[1.0, -INF, 2.0, -INF]], dtype=torch.float64)
    errors.add(torch.tensor([[NAN, 3.0, -INF, -INF]]), reference, torch.ones(1, 4), torch.float32)
    assert (errors.mismatches, errors.count) == (3, 0)


def test_what_is_not_judged_does_not_count():
    """A token outside the kept set may hold anything."""
    errors = Errors()
    reference = torch.zeros(1, 2, dtype=torch.float64)
    judged = torch.tensor([[True, False]])
    errors.add(torch.tensor([[0.0, 9.0]]), reference, torch.ones(1, 2), torch.float32, judged)
    assert (errors.largest, errors.count) == (0.0, 1)
