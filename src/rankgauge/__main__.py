"""`python -m rankgauge`."""

from rankgauge.cli import main

main()
