"""The monitor at work: its plan, schedule, checks, spool, health, and what a check comes to in the history."""
