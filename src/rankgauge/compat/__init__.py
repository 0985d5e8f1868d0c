"""Drop-in imports for programs written for other tools."""
