"""`rankgauge testset build`, `show`, `diff` and `merge`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import show, wrote
from rankgauge.words import Language

__all__ = ["build", "diff", "merge", "show_testset"]

_POLICIES = "people-first (default), people-only, majority, latest, mean, lowest, highest, or people-first+mean"
_form = click.option("--from", "form", metavar="FORMAT", help="Format of the test set, if detection is wrong.")
_labels = click.option(
    "--labels",
    multiple=True,
    metavar="FILE",
    help="Labels to add: JSON Lines, or a table with columns query, doc, grade and judge; may be given several times.",
)
_policy = click.option("--policy", metavar="NAME", help=f"What makes a grade of several labels: {_POLICIES}.")
_output = click.option("-o", "--output", metavar="FILE", help="Write the test set to this file, as JSON.")


@click.command()
@click.argument("source", metavar="TESTSET")
@click.option("--queries", metavar="FILE", help="Texts of the queries, where TESTSET holds judgments alone.")
@_labels
@_policy
@click.option(
    "--regrade",
    metavar="OLD=NEW,...",
    help="Other grades for those of TESTSET: 1=4,2=3,3=2,4=1 turns a scale round in which lower is better.",
)
@click.option("--skip-unknown", is_flag=True, help="Leave out labels of queries that the test set does not have.")
@click.option(
    "--subtopics",
    metavar="FILE",
    help="Write what the labels say of aspects to this file, as judgments with subtopics: for alpha_nDCG, StRecall.",
)
@_form
@_output
@options.json_flag
@options.lang
def build(
    source: str,
    queries: str | None,
    labels: tuple[str, ...],
    policy: str | None,
    regrade: str | None,
    skip_unknown: bool,
    subtopics: str | None,
    form: str | None,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """A test set from annotations and files of labels.

    TESTSET is anything that holds queries: a test-set JSON, another tool's export, TREC judgments, a BEIR folder, or
    with --from queries a file of ids and texts. Its grades become labels of kind import; --labels adds those of people,
    models and clicks, and the policy makes one grade of all of a document. The file keeps labels, judges and policy,
    and every record made with it names them.
    """
    from rankgauge.formats import load_testset
    from rankgauge.formats.labels import load_labels
    from rankgauge.formats.queries import with_query_texts
    from rankgauge.model.labels import LabelPolicy
    from rankgauge.reports.building import summary_report
    from rankgauge.testsets.aspects import aspect_qrels
    from rankgauge.words import Note

    for written in (output, subtopics):
        options.refuse_overwriting(written, [source, *([queries] if queries else []), *labels])
    made, notes, left = load_testset(source, form), [], 0
    rule = None if policy is None else LabelPolicy.named(policy)
    if queries is not None:
        made = with_query_texts(made, queries)
    if regrade is not None:
        made = made.regraded(_grades_of(regrade))
    for path in labels:
        given = load_labels(path)
        left += len(given) - len(given.of_queries(made))
        made = made.with_labels(given, skip_unknown=skip_unknown)
    if rule is not None or not labels:
        made = made.with_labels(policy=rule)
    if left:
        notes.append(Note("testsets.skipped_labels", {"n": left}, "warning"))
    aspects = None if subtopics is None else aspect_qrels(made.labels, made.policy or LabelPolicy())
    if output is not None:
        made.save(output, "json" if output == "-" else None)
    found = made.summary
    show(summary_report(found, notes), found.to_dict() | {"skipped_labels": left}, as_json, output, language)
    if aspects is not None and subtopics is not None:
        aspects.save(subtopics)
        wrote(subtopics, language)


def _grades_of(text: str) -> dict[float, float]:
    """New grades by old ones, as 1=4,2=3."""
    found: dict[float, float] = {}
    for part in text.split(","):
        old, equals, new = part.partition("=")
        try:
            grade = float(old)
            if not equals or grade in found:
                raise ValueError
            found[grade] = float(new)
        except ValueError:
            raise click.UsageError(
                f"--regrade {text}: write each old grade once, with its new one, as 1=4,2=3"
            ) from None
    return found


@click.command("show")
@click.argument("source", metavar="TESTSET")
@_form
@options.json_flag
@options.lang
def show_testset(source: str, form: str | None, as_json: bool, language: Language) -> None:
    """What a test set holds: queries, judgments, tags, who labelled it by which policy, and its version.

    The version is a hash of all that the test set says, not of its name or order.
    """
    from rankgauge.formats import load_testset
    from rankgauge.reports.building import summary_report

    found = load_testset(source, form).summary
    show(summary_report(found), found.to_dict(), as_json, None, language)


@click.command()
@click.argument("before", metavar="OLD")
@click.argument("after", metavar="NEW")
@options.json_flag
@options.lang
@click.pass_context
def diff(ctx: click.Context, before: str, after: str, as_json: bool, language: Language) -> None:
    """What changed from one version of a test set to another: queries, grades and who gave them, labels, policy.

    The exit status is 1 if they differ.
    """
    from rankgauge.formats import load_testset
    from rankgauge.reports.building import difference_report

    found = load_testset(before).difference(load_testset(after))
    show(difference_report(found), found.to_dict(), as_json, None, language)
    ctx.exit(0 if found.same else 1)


@click.command()
@click.argument("sources", metavar="TESTSET...", nargs=-1, required=True)
@click.option(
    "--conflicts",
    type=click.Choice(["error", "first", "labels"]),
    default="error",
    show_default=True,
    help="Where test sets contradict each other: refuse; the first one is right; or grades are labels, and the policy "
    "decides.",
)
@_policy
@click.option("--unreviewed", is_flag=True, help="Take queries without any label too.")
@_output
@options.json_flag
@options.lang
def merge(
    sources: tuple[str, ...],
    conflicts: str,
    policy: str | None,
    unreviewed: bool,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Test sets put together; queries of one id become one.

    Queries without any label, such as candidates that nobody judged yet, are refused.
    """
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.model.labels import LabelPolicy
    from rankgauge.reports.building import summary_report
    from rankgauge.testsets.joining import joined_notes

    if len(sources) < 2:
        raise DataError("give two test sets or more")
    options.refuse_overwriting(output, sources)
    rule = None if policy is None else LabelPolicy.named(policy)
    listed = [load_testset(source) for source in sources]
    made = listed[0]
    for other in listed[1:]:
        made = made.merge(other, conflicts=conflicts, policy=rule, unreviewed=unreviewed)
    if output is not None:
        made.save(output, "json" if output == "-" else None)
    found = made.summary
    show(summary_report(found, joined_notes(listed, made)), found.to_dict(), as_json, output, language)
