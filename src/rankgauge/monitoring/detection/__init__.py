"""Change detection: each series of figures is held against what it was, and noise against what was learned of it."""
