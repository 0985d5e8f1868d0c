"""plan.toml: systems, measures, comparison, sweep and outputs in one file; checked whole, then run."""
