"""Models of one family, told by their names: they err together, and prefer what one of them wrote."""

from __future__ import annotations

import re

__all__ = ["model_family"]

_FAMILIES = {
    "gpt": r"gpt|chatgpt|\bo[1-9](-|\b)|davinci|openai",
    "claude": r"claude|anthropic",
    "gemini": r"gemini|gemma|palm-?2|bard",
    "llama": r"llama|vicuna|alpaca",
    "qwen": r"qwen|qwq",
    "mistral": r"mi[sx]tral|magistral|ministral|codestral",
    "deepseek": r"deepseek",
    "glm": r"glm",
    "yi": r"\byi-",
    "phi": r"\bphi-?[1-9]",
    "command": r"command-?[ar]|cohere|\baya\b",
    "grok": r"grok",
    "kimi": r"kimi|moonshot",
    "doubao": r"doubao|seed-",
    "hunyuan": r"hunyuan",
    "ernie": r"ernie|wenxin",
}


def model_family(name: str) -> str:
    """The family of a model, such as gpt for `openai/gpt-4o`; "" where its name does not tell."""
    lower = name.casefold()
    return next((family for family, pattern in _FAMILIES.items() if re.search(pattern, lower)), "")
