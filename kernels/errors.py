"""How far a result is from the fp64 reference, in units in the last place."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

#: Upper ends of the histogram's bins, in ULP; the last bin is open.
EDGES = (0.5, 1, 2, 4, 8, 16, 64, 256)


def ulp(magnitude: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance of neighbours of `dtype` at fp64 magnitudes: eps × 2^⌊log2 |x|⌋, at least its smallest subnormal."""
    about = torch.finfo(dtype)
    exponent = magnitude.abs().clamp_min(about.smallest_normal).log2().floor()
    return torch.exp2(exponent) * about.eps


@dataclass
class Errors:
    """Of one revision, over all elements that have a finite reference. `histogram`: counts by EDGES.

    `mismatches`: elements that are infinite or NaN where the reference is finite, or finite where it is −inf.
    """

    largest: float = 0.0
    total: float = 0.0
    count: int = 0
    mismatches: int = 0
    histogram: list[int] = field(default_factory=lambda: [0] * (len(EDGES) + 1))

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """The upper end of the bin that a share of the elements does not pass; the largest in the open bin."""
        wanted, seen = share * self.count, 0
        for count, edge in zip(self.histogram, EDGES, strict=False):
            seen += count
            if seen >= wanted:
                return min(edge, self.largest)
        return self.largest

    def add(
        self, values: torch.Tensor, reference: torch.Tensor, scale: torch.Tensor, dtype: torch.dtype,
        judged: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        """Take in some rows. `scale`: the magnitude whose ULP counts; `judged`: bool, elements that are looked at."""
        values, finite = values.double(), reference.isfinite()
        wrong = (finite & ~values.isfinite()) | ((reference == float("-inf")) & (values != float("-inf")))
        if judged is not None:
            finite, wrong = finite & judged, wrong & judged
        self.mismatches += int(wrong.sum())
        sound = finite & values.isfinite()
        error = ((values - reference).abs() / ulp(torch.maximum(scale, reference.abs()), dtype))[sound]
        if not error.numel():
            return
        self.largest = max(self.largest, float(error.max()))
        self.total += float(error.sum())
        self.count += error.numel()
        bins = torch.bucketize(error, torch.tensor(EDGES, dtype=error.dtype, device=error.device))
        for place, count in enumerate(torch.bincount(bins, minlength=len(EDGES) + 1).tolist()):
            self.histogram[place] += count
