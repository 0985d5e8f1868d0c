"""The evaluator inside sentence-transformers, on a tiny model with random weights, and Hugging Face's Trainer."""

from __future__ import annotations

import csv
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankgauge import EmbeddingEvaluator, Query, RankgaugeError, TestSet, evaluate, evaluate_tensors, trainer_metrics
from rankgauge.errors import DataError
from tests.tensors.worlds import random_world

WORDS = ["red", "green", "blue", "cat", "dog", "bird", "runs", "sings", "fast", "slow", "tree", "house", "river", "sea"]
WORDS += ["stone", "cloud"]
CORPUS = {f"d{i}": f"{WORDS[i % 16]} {WORDS[(i * 7 + 3) % 16]} {WORDS[i // 16]} {WORDS[i // 5]}" for i in range(40)}
QUERIES = {f"q{i}": f"{WORDS[i]} {WORDS[(i + 4) % 16]}" for i in range(12)}
QRELS = {f"q{i}": {f"d{i}": 2, f"d{i + 16}": 1, f"d{i + 5}": 0} for i in range(10)}
MEASURES = ["nDCG@10", "RR", "R@5"]
learned = pytest.mark.needs("sentence_transformers", "torch")


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("sentence_transformers.evaluation")
        yield import_module("sentence_transformers")


@pytest.fixture(scope="module")
def model(library: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Bert of one layer and 16 dimensions."""
    transformers, torch, tokenizers = map(import_module, ("transformers", "torch", "tokenizers"))
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    known = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    transformers.BertModel(transformers.BertConfig(vocab_size=len(known), **size)).save_pretrained(folder)
    layers = import_module("sentence_transformers.models")
    modules = [layers.Transformer(str(folder)), layers.Pooling(16)]
    made = library.SentenceTransformer(modules=modules, device="cpu")
    assert len(np.unique(made.encode(list(CORPUS.values())).round(4), axis=0)) == len(CORPUS)  # none ties
    return made


def means(model: Any, similarity: Any, qrels: Any = QRELS, measures: Any = MEASURES) -> dict[str, float]:
    """What `evaluate` says of every pair's similarity; the place of a document stands for its id."""
    asked, found = model.encode(list(QUERIES.values())), model.encode(list(CORPUS.values()))
    names = {doc: f"{place:03}" for place, doc in enumerate(CORPUS)}
    run = {
        q: {names[doc]: float(similarity(a, b)) for doc, b in zip(CORPUS, found, strict=True)}
        for q, a in zip(QUERIES, asked, strict=True)
    }
    judged = {q: {names[doc]: grade for doc, grade in docs.items()} for q, docs in qrels.items()}
    return dict(evaluate(judged, run, measures, depth=100).mean)


def cosine(a: Any, b: Any) -> float:
    return float(np.float32(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))


@learned
def test_of_a_model(model: Any, library: Any, tmp_path: Path) -> None:
    evaluator = EmbeddingEvaluator(QUERIES, CORPUS, QRELS, MEASURES, name="dev", batch_size=7)
    assert isinstance(evaluator, library.evaluation.SentenceEvaluator)
    assert evaluator.primary_metric == "nDCG@10"
    assert evaluator.greater_is_better
    found = evaluator(model, output_path=str(tmp_path / "eval"), epoch=0.5, steps=10)
    wanted = means(model, cosine)
    assert found == pytest.approx({f"dev_{name}": value for name, value in wanted.items()}, abs=1e-6)
    assert evaluator.primary_metric == "dev_nDCG@10"
    assert evaluator.query_ids == list(QRELS)
    assert len(evaluator.result.per_query["RR"]) == len(QRELS)
    assert evaluator.description == "Embedding"
    evaluator(model, output_path=str(tmp_path / "eval"), epoch=1, steps=20)
    EmbeddingEvaluator(QUERIES, CORPUS, QRELS, "AP", name="dev")(model, output_path=str(tmp_path / "eval"))
    with (tmp_path / "eval" / "rankgauge_dev_results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["steps"] for row in rows] == ["10", "20", "-1"]
    assert [row["epoch"] for row in rows] == ["0.5", "1", "-1"]
    assert float(rows[1]["nDCG@10"]) == found["dev_nDCG@10"]
    assert (rows[0]["AP"], rows[2]["nDCG@10"]) == ("", "")
    EmbeddingEvaluator(QUERIES, CORPUS, QRELS, "AP", write_csv=False)(model, output_path=str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@learned
def test_as_the_evaluator_of_sentence_transformers(model: Any, library: Any) -> None:
    """Where conventions agree: binary grades, no ties."""
    relevant = {query: {doc for doc, grade in docs.items() if grade} for query, docs in QRELS.items()}
    peer = library.evaluation.InformationRetrievalEvaluator(QUERIES, CORPUS, relevant)(model)
    pairs = {
        "nDCG@10": "ndcg@10",
        "RR@10": "mrr@10",
        "P@5": "precision@5",
        "R@5": "recall@5",
        "Success@3": "accuracy@3",
    }
    found = EmbeddingEvaluator(QUERIES, CORPUS, relevant, list(pairs))(model)
    assert found == pytest.approx({own: peer[f"cosine_{other}"] for own, other in pairs.items()}, abs=1e-6)


@learned
def test_similarities_and_dimensions(model: Any) -> None:
    found = EmbeddingEvaluator(QUERIES, CORPUS, QRELS, MEASURES, similarity="dot")(model)
    assert found == pytest.approx(means(model, lambda a, b: np.float32(a @ b)), abs=1e-6)
    found = EmbeddingEvaluator(QUERIES, CORPUS, QRELS, MEASURES, similarity="l2")(model)
    assert found == pytest.approx(means(model, lambda a, b: -np.sum((a.astype(float) - b) ** 2)), abs=1e-6)
    found = EmbeddingEvaluator(QUERIES, CORPUS, QRELS, MEASURES, truncate_dim=4)(model)
    assert found == pytest.approx(means(model, lambda a, b: cosine(a[:4], b[:4])), abs=1e-6)
    odd = SimpleNamespace(encode=model.encode, similarity_fn_name="manhattan")
    with pytest.raises(DataError, match="ranks by 'manhattan', by which nothing is searched here; give `similarity`"):
        EmbeddingEvaluator(QUERIES, CORPUS, QRELS)(odd)
    plain = SimpleNamespace(encode=model.encode)  # an older model, without a way of its own for queries
    assert EmbeddingEvaluator(QUERIES, CORPUS, QRELS, "RR")(plain)["RR"] == pytest.approx(means(model, cosine)["RR"])


@learned
def test_of_a_test_set(model: Any, tmp_path: Path) -> None:
    test_set = TestSet([Query(QUERIES[query], grades, id=query) for query, grades in QRELS.items()])
    wanted = EmbeddingEvaluator(QUERIES, CORPUS, QRELS, MEASURES)(model)
    assert EmbeddingEvaluator(test_set, CORPUS, measures=MEASURES)(model) == wanted
    test_set.save(tmp_path / "testset.json")
    lines = (f'{{"_id": "{doc}", "text": "{text}"}}\n' for doc, text in CORPUS.items())
    (tmp_path / "corpus.jsonl").write_text("".join(lines))
    files = EmbeddingEvaluator(tmp_path / "testset.json", tmp_path / "corpus.jsonl", measures=MEASURES)
    assert files(model) == wanted


@learned
def test_in_training(model: Any, library: Any, tmp_path: Path) -> None:
    """Two steps of the library's own trainer: the means are logged, and choose the best checkpoint."""
    datasets = import_module("datasets")
    pairs = datasets.Dataset.from_dict({"anchor": list(QUERIES.values()), "positive": list(CORPUS.values())[:12]})
    settings = {"eval_strategy": "steps", "eval_steps": 1, "save_strategy": "steps", "save_steps": 1, "max_steps": 2}
    settings |= {"load_best_model_at_end": True, "metric_for_best_model": "eval_dev_nDCG@10", "report_to": "none"}
    arguments = library.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), use_cpu=True, disable_tqdm=True, logging_strategy="no", **settings
    )
    evaluator = EmbeddingEvaluator(QUERIES, CORPUS, QRELS, MEASURES, name="dev")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = library.SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=pairs,
            loss=import_module("sentence_transformers.losses").MultipleNegativesRankingLoss(model),
            evaluator=evaluator,
        )
        trainer.train()
    logged = [entry for entry in trainer.state.log_history if "eval_dev_nDCG@10" in entry]
    assert [entry["step"] for entry in logged] == [1, 2]
    best = max(logged, key=lambda entry: entry["eval_dev_nDCG@10"])
    assert trainer.state.best_metric == best["eval_dev_nDCG@10"]
    with (tmp_path / "eval" / "rankgauge_dev_results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["RR"]) for row in rows] == [entry["eval_dev_RR"] for entry in logged]


@learned
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"qrels": None}, "`qrels` are missing: give the judgments of `queries`, or a test set"),
        ({"qrels": {"q99": {"d1": 1}}}, "1 judged query not among `queries`, such as 'q99'"),
        ({"qrels": {}}, "there are no judged queries"),
        ({"queries": ["a"]}, "`queries` must be the texts of queries by id"),
        ({"queries": {**QUERIES, "q1": 3}}, "`queries` must hold texts by id, not 3"),
        ({"corpus": {}}, "`corpus` must be texts of documents by id"),
        ({"corpus": {"d1": None}}, "`corpus` must hold texts by id, not None"),
        ({"corpus": "nowhere.jsonl"}, "nowhere.jsonl"),
        ({"measures": "nDGC"}, "did you mean nDCG"),
        ({"similarity": "cos"}, "similarity='cos' is not one of"),
        ({"batch_size": 0}, "`batch_size=0` must be a whole number of at least 1"),
        ({"ties": "expected"}, "choose ties='trec' or ties='stable'"),
        ({"k": 0}, "`k=0`"),
        ({"nam": "x"}, "did you mean name?"),
    ],
)
def test_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(RankgaugeError) as error:
        EmbeddingEvaluator(**{"queries": QUERIES, "corpus": CORPUS, "qrels": QRELS, **given})
    assert told in str(error.value)


def prediction(predictions: Any, labels: Any) -> Any:
    return SimpleNamespace(predictions=predictions, label_ids=labels)


def test_scores_of_pairs() -> None:
    world = random_world(3, tied=False)
    query, column = np.nonzero(world.listed)
    scores, grades = world.scores[query, column], world.grades[query, column].astype(int)
    wanted = dict(evaluate_tensors(scores, grades, MEASURES, groups=query, n_queries=int(query.max()) + 1).mean)
    compute = trainer_metrics(MEASURES, groups=query.tolist())
    assert compute(prediction(scores, grades)) == pytest.approx(wanted)
    assert compute(prediction(scores[:, None], grades[:, None])) == pytest.approx(wanted)
    assert compute(prediction((np.stack((-scores, scores), axis=1), None), grades)) == pytest.approx(wanted)
    padded = np.append(grades, (-100, -100))
    more = trainer_metrics(MEASURES, groups=np.append(query, (0, 1)))
    assert more(prediction(np.append(scores, (9, 9)), padded)) == pytest.approx(wanted)
    for wrong in (prediction(scores[1:], grades), prediction(scores, grades[1:]), prediction(world.scores, grades)):
        with pytest.raises(DataError, match="there must be one of each for each row of the evaluation set"):
            compute(wrong)


def test_scores_of_lists() -> None:
    world = random_world(3)
    grades = np.where(world.listed, world.grades, -100).astype(int)
    wanted = dict(evaluate_tensors(world.scores, world.grades, MEASURES, mask=world.listed, rel=2).mean)
    found = trainer_metrics(MEASURES, rel=2)(prediction(world.scores, grades))
    assert list(found) == MEASURES
    assert list(found.values()) == pytest.approx(list(wanted.values()))


def test_the_function_is_made_first() -> None:
    with pytest.raises(DataError, match=r"compute_metrics=trainer_metrics\(\['nDCG@10'\]\)"):
        trainer_metrics(prediction(np.ones(3), np.ones(3)))
    with pytest.raises(DataError, match="`groups` must hold one whole number for each row"):
        trainer_metrics("RR", groups=[0.5, 1.0])
    with pytest.raises(RankgaugeError, match=r"did you mean groups\?"):
        trainer_metrics("RR", group=[0])


@learned
def test_in_the_trainer_of_hugging_face(tmp_path: Path) -> None:
    """A linear scorer of pairs, evaluated by the real Trainer."""
    torch, transformers = import_module("torch"), import_module("transformers")

    class Scorer(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 1)

        def forward(self, features: Any, labels: Any = None) -> dict[str, Any]:
            logits = self.linear(features)
            return {"loss": ((logits[:, 0] - labels) ** 2).mean(), "logits": logits}

    rng = np.random.default_rng(0)
    features, grades = rng.standard_normal((60, 4)).astype(np.float32), rng.integers(0, 3, 60)
    rows = [{"features": f, "labels": np.float32(g)} for f, g in zip(features, grades, strict=True)]
    query = np.arange(60) // 6
    model = Scorer()
    arguments = transformers.TrainingArguments(output_dir=str(tmp_path), use_cpu=True, report_to="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = transformers.Trainer(
            model, arguments, eval_dataset=rows, compute_metrics=trainer_metrics(MEASURES, groups=query)
        )
        found = trainer.evaluate()
    scores = model.linear(torch.asarray(features))[:, 0].detach().numpy()
    wanted = evaluate_tensors(scores, grades, MEASURES, groups=query).mean
    assert {name: found[f"eval_{name}"] for name in MEASURES} == pytest.approx(dict(wanted), abs=1e-6)


def test_without_the_library_trainer_metrics_works() -> None:
    code = (
        "import sys; sys.modules.update(transformers=None, torch=None); import rankgauge; rankgauge.trainer_metrics()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
