"""`model_family`: whose model a name means. Models of one family like each other's texts, and err together."""

from __future__ import annotations

import re
from typing import Final

from rankgauge.arguments import check_text, named_arguments

__all__ = ["FAMILIES", "model_family"]

FAMILIES: Final = {
    # Distilled models are named after both: what was trained, deepseek's answers on a qwen, comes first.
    "deepseek": r"deepseek",
    "gpt": r"gpt(?!-?(?:j|neo))|chatgpt|\bo[1-9](?:-|\b)|davinci|text-embedding-(?:ada|3)|openai",
    "claude": r"claude|anthropic",
    "gemini": r"gemini|gemma|palm-?2|\bbard\b|text-bison|text-unicorn",
    "llama": r"llama|vicuna|alpaca",
    "qwen": r"qwen|qwq|qvq|tongyi|gte-",
    "mistral": r"mi[sx]tral|ministral|codestral|magistral|pixtral|e5-mistral",
    "glm": r"glm|zhipu",
    "yi": r"\byi-",
    "kimi": r"kimi|moonshot",
    "doubao": r"doubao|\bseed-(?:oss|1)",
    "ernie": r"ernie|wenxin",
    "hunyuan": r"hunyuan",
    "minimax": r"minimax|\babab",
    "internlm": r"internlm",
    "baichuan": r"baichuan",
    "phi": r"\bphi-?\d",
    "command": r"command-?(?:r|a|light|nightly)|cohere|rerank-(?:english|multilingual|v3)",
    "grok": r"grok",
    "nova": r"\bnova-(?:micro|lite|pro|premier)|titan",
    "granite": r"granite",
    "nemotron": r"nemotron",
    "olmo": r"olmo|tulu",
    "falcon": r"falcon",
    "jamba": r"jamba|\bj2-",
    "bge": r"\bbge-",
    "jina": r"jina",
}
"""Family and what its names hold, in the order in which they are tried."""
_FAMILIES: Final = {family: re.compile(pattern) for family, pattern in FAMILIES.items()}


@named_arguments
def model_family(name: str) -> str:
    """The family of a model: gpt, claude, gemini, llama, qwen, mistral, deepseek, ...; empty where it is not known."""
    check_text("name", name, "the name of a model")
    small = (name or "").lower().replace("_", "-")
    return next((family for family, pattern in _FAMILIES.items() if pattern.search(small)), "")
