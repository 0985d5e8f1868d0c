"""A live retriever evaluated: asked every query, scored, its answers kept, its settings swept."""
