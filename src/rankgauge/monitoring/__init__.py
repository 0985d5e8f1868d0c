"""Live retrievers watched: `loop` checks them on schedule, `detection` tells change from noise, `alerts` says so.

`detection` and `alerts` know nothing of each other or of the loop; the loop brings them together.
"""
