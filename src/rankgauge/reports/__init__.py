"""Records to neutral tables, and tables to terminal, Markdown, LaTeX and CSV. Rounding happens only here."""
