"""Evaluations, reconciliation, and the record that every one of them ends as."""
