"""Parameters that several retrievers have, each described once."""

from __future__ import annotations

from typing import Annotated

from rankgauge.retrievers.checks import Bounds, Choices
from rankgauge.retrievers.text import LANGUAGES

__all__ = ["Dimensions", "EndpointUrl", "KeyVariable", "ModelName", "TextLanguage"]

Dimensions = Annotated[int, "Length of the vectors of latent semantic analysis.", Bounds(1)]
ModelName = Annotated[str | None, "A sentence-transformers model, or the endpoint's."]
EndpointUrl = Annotated[str | None, "URL of an OpenAI-compatible server, before /embeddings."]
KeyVariable = Annotated[str | None, "Environment variable that holds the endpoint's key."]
TextLanguage = Annotated[str, "Language of the texts; auto goes by their script.", Choices(LANGUAGES)]
