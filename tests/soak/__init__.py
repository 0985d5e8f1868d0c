"""Commands killed with `kill -9`, and a monitor under faults drawn at random: what was promised must be there.

`make soak` runs the long form; `test_short.py` is the short one of the suite.
"""
