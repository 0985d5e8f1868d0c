"""Cost against size as bars of text, and as a picture where vl-convert is installed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from benchmarks.costs import Cost
from benchmarks.sizes import KINDS

__all__ = ["bars_of", "save_picture"]

Sizes = Mapping[int, Mapping[str, Cost]]
_WIDTH = 24


def bars_of(sizes: Sizes) -> str:
    """Seconds and megabytes of each shape; bars are as long as the logarithm of their figures."""
    lines = []
    for kind, about in KINDS.items():
        costs = {rows: cost[kind] for rows, cost in sizes.items() if kind in cost}
        lines += ["", f"  {kind}: {about}", f"    {'rows':>11}  {'s':>7} {'CPU s':>7} {'':{_WIDTH}} {'MB':>7}"]
        for rows, cost in costs.items():
            lines.append(
                f"    {rows:>11,}  {cost.seconds:7.2f} {cost.cpu:7.2f} {_bar(cost.seconds, 0.05, 50)} "
                f"{cost.megabytes:7.0f} {_bar(cost.megabytes, 20, 20_000)}".rstrip()
            )
    return "\n".join(lines)


def _bar(figure: float, least: float, most: float) -> str:
    share = math.log(max(figure, least) / least) / math.log(most / least)
    return ("#" * max(1, round(_WIDTH * min(share, 1)))).ljust(_WIDTH)


def save_picture(sizes: Sizes, path: Path) -> bool:
    """Draws both costs over the rows; false without vl-convert."""
    try:
        import vl_convert
    except ImportError:
        return False
    rows = [
        {"rows": size, "shape": KINDS[kind], "what": what, "cost": figure}
        for size, costs in sizes.items()
        for kind, cost in costs.items()
        for what, figure in (("seconds", cost.seconds), ("megabytes", cost.megabytes))
    ]

    def panel(what: str) -> dict[str, object]:
        log = {"type": "log"}
        legend = {"orient": "bottom", "columns": 2, "labelLimit": 0}
        return {
            "width": 360,
            "height": 260,
            "transform": [{"filter": f"datum.what == '{what}'"}],
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "rows", "type": "quantitative", "scale": log, "axis": {"format": "~s", "tickCount": 4}},
                "y": {"field": "cost", "type": "quantitative", "scale": log, "title": what},
                "color": {"field": "shape", "type": "nominal", "title": None, "legend": legend},
            },
        }

    chart = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "hconcat": [panel("seconds"), panel("megabytes")],
    }
    path.write_text(vl_convert.vegalite_to_svg(json.dumps(chart)))
    return True
