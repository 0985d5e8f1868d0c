"""`EmbeddingEvaluator`: an evaluator of sentence-transformers with the measures and the contract of `evaluate`."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.arguments import as_path, check_text, named_arguments
from rankgauge.errors import DataError, counted
from rankgauge.evaluation.inputs import read_judgments
from rankgauge.evaluation.plan import DEFAULT_MEASURES
from rankgauge.extras import optional_class
from rankgauge.formats import load_corpus
from rankgauge.formats.sources import write_whole
from rankgauge.measures import Measure, parse_measures
from rankgauge.model.contract import Contract
from rankgauge.tensors.embeddings import evaluate_embeddings, search_plan
from rankgauge.tensors.result import TensorScores
from rankgauge.tensors.search import SIMILARITIES

__all__ = ["EmbeddingEvaluator"]

_Evaluator: Any = optional_class(
    "sentence_transformers.evaluation", "SentenceEvaluator", "EmbeddingEvaluator", "sentence-transformers", "models"
)
_OF_MODEL = {"cosine": "cosine", "dot": "dot", "euclidean": "l2"}


class EmbeddingEvaluator(_Evaluator):  # type: ignore[misc]
    """Evaluates a model of sentence-transformers by retrieval: `evaluator=` of `SentenceTransformerTrainer`, or called
    with a model.

    `queries` are {id: text} with their judgments as `qrels` (grades, or lists of relevant ids), or a test set, which
    has both; `corpus` is {id: text} or the path of a file. Judged queries are encoded with `encode_query`, the corpus
    with `encode_document` (`encode` where a model has neither), and searched exactly by the model's similarity, unless
    `similarity` says another; `truncate_dim` keeps the first so many dimensions. The other arguments are those of
    `evaluate_embeddings`.

    The call returns {`name_nDCG@10`: mean, ...}; the first measure is the `primary_metric`. With an output path a row
    is added to `rankgauge_NAME_results.csv` there. `result` has the last `TensorScores`, with intervals and the score
    of each query; its rows are those of `query_ids`.
    """

    @named_arguments
    def __init__(
        self,
        queries: Mapping[str, str] | Any,
        corpus: Mapping[str, str] | str | os.PathLike[str],
        qrels: Any = None,
        measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
        *,
        name: str = "",
        k: int | None = None,
        similarity: str | None = None,
        batch_size: int = 32,
        truncate_dim: int | None = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
        show_progress_bar: bool = False,
        write_csv: bool = True,
        drop_self: bool | None = None,
        contract: str | Contract | None = None,
        ties: str | None = None,
        missing: str | None = None,
        no_relevant: str | None = None,
        rel: float | None = None,
    ) -> None:
        super().__init__()
        check_text("name", name)
        if similarity is not None and similarity not in SIMILARITIES:
            raise DataError(f"similarity={similarity!r} is not one of {', '.join(map(repr, SIMILARITIES))}")
        for argument, value in (("batch_size", batch_size), ("truncate_dim", truncate_dim)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise DataError(f"`{argument}={value!r}` must be a whole number of at least 1")
        texts, self.qrels = _judged_queries(queries, qrels)
        self.query_ids, self.queries = list(texts), list(texts.values())
        found = load_corpus(corpus) if isinstance(corpus, str | os.PathLike) else corpus
        if not isinstance(found, Mapping) or not found:
            raise DataError("`corpus` must be texts of documents by id, such as {'d1': 'its text'}, or a file of them")
        self.document_ids, self.documents = list(map(str, found)), list(found.values())
        for argument, listed in (("queries", self.queries), ("corpus", self.documents)):
            if wrong := [text for text in listed if not isinstance(text, str)]:
                raise DataError(f"`{argument}` must hold texts by id, not {wrong[0]!r:.60}")
        self.measures = parse_measures(measures)
        self.name, self.similarity, self.batch_size, self.truncate_dim = name, similarity, batch_size, truncate_dim
        self.show_progress_bar, self.write_csv = show_progress_bar, write_csv
        self.csv_file = f"rankgauge_{name}_results.csv" if name else "rankgauge_results.csv"
        self.result: TensorScores | None = None
        self.primary_metric = str(self.measures[0])
        self.greater_is_better = not self.measures[0].definition.lower_is_better
        self._prompts = {
            "query": {"prompt": query_prompt, "prompt_name": query_prompt_name},
            "document": {"prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        }
        self._choices: dict[str, Any] = {
            "contract": contract,
            "ties": ties,
            "missing": missing,
            "no_relevant": no_relevant,
            "rel": rel,
        }
        self._choices |= {"k": k, "drop_self": drop_self}
        search_plan(self.measures, **self._choices)  # what is wrong with them is said before training starts

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Encode, search and score; the means by their names."""
        similarity = self.similarity or _similarity_of(model)
        self.result = evaluate_embeddings(
            self._encoded(model, self.queries, "query"),
            self._encoded(model, self.documents, "document"),
            self.qrels,
            self.measures,
            similarity=similarity,
            query_ids=self.query_ids,
            document_ids=self.document_ids,
            **self._choices,
        )
        means = {str(measure): self.result.mean[measure] for measure in self.measures}
        if output_path is not None and self.write_csv:
            self._write(Path(as_path("output_path", output_path)), {"epoch": epoch, "steps": steps, **means})
        metrics: dict[str, float] = self.prefix_name_to_metrics(means, self.name)
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """What the model card shows of the evaluation beside its figures."""
        found = {"similarity": self.similarity, "truncate_dim": self.truncate_dim, **self._choices}
        return {name: str(value) for name, value in found.items() if value is not None}

    def _encoded(self, model: Any, texts: list[str], kind: str) -> Any:
        encode = getattr(model, f"encode_{kind}", None) or model.encode
        prompts = {name: value for name, value in self._prompts[kind].items() if value is not None}
        vectors = encode(
            texts,
            batch_size=self.batch_size,
            show_progress_bar=self.show_progress_bar,
            convert_to_tensor=True,
            **prompts,
        )
        return vectors if self.truncate_dim is None else vectors[:, : self.truncate_dim]

    def _write(self, folder: Path, row: dict[str, float]) -> None:
        """The file again with one row more; columns of other measures, from before, stay."""
        path = folder / self.csv_file
        rows: list[dict[str, Any]] = []
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        columns = list(dict.fromkeys([*(rows[0] if rows else ()), *row]))
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, row])
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.getvalue().encode())


def _judged_queries(queries: Any, qrels: Any) -> tuple[dict[str, str], Any]:
    """Texts of the judged queries by id, and the judgments."""
    if qrels is None:
        missing = DataError("`qrels` are missing: give the judgments of `queries`, or a test set, which has both")
        if isinstance(queries, Mapping):
            raise missing
        judgments, test_set = read_judgments(queries)
        if test_set is None:
            raise missing
        texts: dict[str, str] = {query.id: query.text for query in test_set}
    else:
        if not isinstance(queries, Mapping):
            raise DataError("`queries` must be the texts of queries by id, such as {'q1': 'its text'}, beside `qrels`")
        judgments, _ = read_judgments(qrels)
        texts = {str(name): text for name, text in queries.items()}
    known = set(judgments.queries)
    unknown = sorted(known - texts.keys())
    if unknown:
        raise DataError(
            f"{counted(len(unknown), 'judged query', 'judged queries')} not among `queries`, such as {unknown[0]!r}; "
            "give the texts of all that are judged, or take their judgments out"
        )
    if not known:
        raise DataError("there are no judged queries")
    return {name: text for name, text in texts.items() if name in known}, judgments


def _similarity_of(model: Any) -> str:
    own = str(getattr(model, "similarity_fn_name", None) or "cosine")
    if own not in _OF_MODEL:
        known = ", ".join(map(repr, SIMILARITIES))
        raise DataError(f"the model ranks by {own!r}, by which nothing is searched here; give `similarity`: {known}")
    return _OF_MODEL[own]
