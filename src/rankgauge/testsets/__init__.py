"""Care for test sets: passages bound to their places, and labels held against a corpus that has changed."""
