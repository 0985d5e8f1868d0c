"""The steps by which a database got its tables, one file each under `versions`; a step that is out never changes."""
