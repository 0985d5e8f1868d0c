"""Incidents and who is told of them: messages, channels, and their delivery."""
