"""May a new result take the place of the old one? Rules, comparability, checks and what follows from them."""
