"""Labels by people: what to review first, sheets and sessions to do it in, conflicts and who settles them."""
