"""The Pareto front of quality and latency."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["pareto_front"]


def pareto_front(points: Sequence[tuple[float, float | None]], *, lower_is_better: bool = False) -> list[bool]:
    """Which (quality, seconds) lie on the front: no other one is at least as good in both and better in one. What was
    not timed does not."""
    sign = -1 if lower_is_better else 1

    def beaten(quality: float, seconds: float) -> bool:
        return any(
            p50 is not None and sign * other >= sign * quality and p50 <= seconds and (other, p50) != (quality, seconds)
            for other, p50 in points
        )

    return [seconds is not None and not beaten(quality, seconds) for quality, seconds in points]
