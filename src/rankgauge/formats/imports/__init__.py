"""Test sets in the layouts of other tools, told by their own keys."""

from rankgauge.formats.imports.layouts import LAYOUTS, Layout, layout_named, layout_of

__all__ = ["LAYOUTS", "Layout", "layout_named", "layout_of"]
