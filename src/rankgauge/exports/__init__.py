"""Records into the tools in which teams keep their other figures."""
