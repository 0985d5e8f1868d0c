"""The history: records stored once, found again, listed, traced over time, pruned and given back as they were."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.limits import RECORDS
from rankgauge.history.database import Database
from rankgauge.history.faults import damaged
from rankgauge.history.finding import find, light, matching, measure_names, of_means, stored_of
from rankgauge.history.rows import Mean, Point, Pruned, Stored, StoredBaseline
from rankgauge.history.schema import baselines, means, records
from rankgauge.history.sql import insert_once, sa
from rankgauge.history.times import Moment, as_moment
from rankgauge.stats.levels import check_whole

if TYPE_CHECKING:
    from rankgauge.record import Record

__all__ = ["History", "opened"]

_MANY = 500
_NEWEST_FIRST = (records.c.created.desc(), records.c.id.desc())
_MEAN = [column for column in means.c if column.name != "position"]


@named_arguments
class History(Database):
    """Records in a database: with History.open() as history: history.add(record); history.trend("nDCG@10").

    `add` stores a record, `records` lists what is there, `record` gives one back, `means`, `trend` and `baselines` are
    read without it, `prune` and `export` end the circle. It is a context manager, and several threads may use it.
    """

    @named_arguments
    def add(
        self,
        record: Record | Any,
        *,
        label: str | None = None,
        connection: sa.Connection | None = None,
        name: str = "the record",
    ) -> Stored:
        """Store a record, or that of a result or a file; one that is there already stays as it is, and nothing is
        counted twice. Only a label that it lacks is added to it.

        `name` is what messages call it.
        """
        from rankgauge.history.entry import entry_of
        from rankgauge.record import as_record

        row, own_means = entry_of(as_record(record), label, name)
        same = records.c.uid == row["uid"]
        with self.begin() if connection is None else nullcontext(connection) as open_:
            number, labelled = insert_once(open_, records, row, ["uid"]), False
            if number is not None and own_means:
                open_.execute(sa.insert(means), [{**mean, "record_id": number} for mean in own_means])
            if number is None and row["label"] is not None:
                bare = sa.update(records).where(same, records.c.label.is_(None)).values(label=row["label"])
                labelled = open_.execute(bare).rowcount == 1
            return stored_of(open_.execute(light().where(same)).one(), new=number is not None, labelled=labelled)

    @named_arguments
    def records(
        self,
        *,
        label: str | None = None,
        system: str | None = None,
        measure: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        test_set: str | None = None,
        limit: int | None = None,
    ) -> list[Stored]:
        """Records newest first: since <= created < until; `test_set` may be the beginning of its hash.

        Times may be texts as the command takes them: 2026-01-31 (`until` its end), 2026-01-31T12:00, 12h, 7d, 4w ago.
        """
        until = as_moment(until, whole_day=True)
        wanted = matching(light(), label=label, since=since, until=until, system=system, measure=measure)
        if test_set is not None:
            wanted = wanted.where(records.c.test_set.startswith(test_set, autoescape=True))
        wanted = wanted.order_by(*_NEWEST_FIRST).limit(_checked(limit))
        with self.read() as connection:
            return [stored_of(row) for row in connection.execute(wanted)]

    def get(self, reference: str | int, *, label: str | None = None) -> Stored:
        """A record by its number, the beginning of its uid (six or more characters), `latest` or `latest~2`.

        With a label, `latest` is the latest of those with that label.
        """
        with self.read() as connection:
            return find(connection, str(reference), self.location, label)

    def record(self, reference: Stored | str | int) -> Record:
        """The record itself, by what `get` takes."""
        from rankgauge.formats.json_values import parse_record
        from rankgauge.record import Record

        name = f"record {reference.id if isinstance(reference, Stored) else reference} of {self.location}"
        # A lone surrogate, which JSON can hold as an escape, is stored as it is.
        return Record.from_dict(parse_record(self.raw(reference).decode("utf-8", "surrogatepass"), name), name)

    def raw(self, record: Stored | str | int) -> bytes:
        """The record as canonical JSON, the very bytes that its uid is the hash of."""
        with self.read() as connection:
            found = record if isinstance(record, Stored) else find(connection, str(record), self.location)
            packed = connection.execute(sa.select(records.c.document).where(records.c.id == found.id)).scalar()
        if packed is None:
            raise DataError(f"{self.location}: record {found.id} has been removed meanwhile")
        place, most = f"{self.location}: record {found.id}", RECORDS.of(len(packed))
        unpack = zlib.decompressobj()
        try:
            data = unpack.decompress(packed, most + 1)
        except zlib.error:
            data = b""
        if len(data) > most:
            raise FormatError(place, [RECORDS.exceeded(len(packed))])
        if not unpack.eof:
            raise damaged(self.location, f"record {found.id} cannot be unpacked")
        if hashlib.sha256(data).hexdigest() != found.uid:
            raise damaged(self.location, f"record {found.id} is not the one that its uid is the hash of")
        return data

    def means(self, ids: Iterable[int]) -> dict[int, list[Mean]]:
        """The means of some records, in the order in which a record names its systems and measures."""
        found: dict[int, list[Mean]] = {}
        with self.read() as connection:
            for chunk in _chunks(list(ids)):
                wanted = sa.select(*_MEAN).where(means.c.record_id.in_(chunk))
                for row in connection.execute(wanted.order_by(means.c.record_id, means.c.position)):
                    found.setdefault(row.record_id, []).append(Mean(**row._mapping))
        return found

    def baselines(self, name: str | None = None, *, connection: sa.Connection | None = None) -> list[StoredBaseline]:
        """The current version of every baseline by name; or all versions of one, newest first."""
        order = (baselines.c.name, baselines.c.version.desc())
        wanted = sa.select(baselines, records.c.uid, records.c.created).join(
            records, records.c.id == baselines.c.record_id
        )
        if name is not None:
            wanted = wanted.where(baselines.c.name == name)
        with self.read() if connection is None else nullcontext(connection) as open_:
            found = [_baseline(row) for row in open_.execute(wanted.order_by(*order))]
        if name is not None:
            return found
        newest: dict[str, StoredBaseline] = {}
        for one in found:
            newest.setdefault(one.name, one)
        return list(newest.values())

    @named_arguments
    def trend(
        self,
        measure: str,
        *,
        system: str | None = None,
        label: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
    ) -> list[Point]:
        """One measure's means over time, oldest first; `limit` takes the newest so many records."""
        r, limit, until = records.c, _checked(limit), as_moment(until, whole_day=True)
        columns = (r.uid, r.created, r.label, r.test_set, r.contract, r.git)
        joined: sa.Select[Any] = sa.select(*_MEAN, *columns).join(records, r.id == means.c.record_id)
        wanted = matching(of_means(joined, system, measure), label=label, since=since, until=until)
        if limit is not None:
            newest = matching(sa.select(r.id), label=label, since=since, until=until, system=system, measure=measure)
            wanted = wanted.where(r.id.in_(newest.order_by(*_NEWEST_FIRST).limit(limit)))
        with self.read() as connection:
            rows = connection.execute(wanted.order_by(r.created, r.id, means.c.position)).all()
            if not rows:
                raise DataError(f"{self.location}: {_nothing(connection, measure)}")
        return [Point(**row._mapping) for row in rows]

    @named_arguments
    def prune(
        self,
        *,
        keep: int | None = None,
        before: Moment | None = None,
        label: str | None = None,
        dry_run: bool = False,
    ) -> Pruned:
        """Remove all but the newest `keep` records, or those made before a moment; with both, what either would leave
        stays. What a baseline points at, now or in the past, is never removed."""
        if keep is None and before is None:
            raise DataError("say what to prune: all but the newest records (keep), or those before a date (before)")
        r, keep = records.c, _checked(keep, "keep")
        wanted = matching(light(), label=label, until=before)
        if keep is not None:
            newest = matching(sa.select(r.id), label=label).order_by(*_NEWEST_FIRST).limit(keep)
            wanted = wanted.where(r.id.not_in(newest))
        with self.read() if dry_run else self.begin() as connection:
            found = [stored_of(row) for row in connection.execute(wanted.order_by(*_NEWEST_FIRST))]
            needed = _needed(connection)
            gone = [record for record in found if record.id not in needed]
            if not dry_run:
                for chunk in _chunks([record.id for record in gone]):
                    connection.execute(sa.delete(records).where(r.id.in_(chunk)))
        return Pruned(gone, [record for record in found if record.id in needed])

    def remove(self, record: Stored) -> bool:
        """Remove one record, in a transaction of its own; False where a baseline points at it, now or in the past."""
        with self.begin() as connection:
            if record.id in _needed(connection):
                return False
            connection.execute(sa.delete(records).where(records.c.id == record.id))
        return True

    def export(self, wanted: Iterable[Stored] | None = None) -> Iterator[tuple[Stored, bytes]]:
        """Records as canonical JSON, byte for byte as they were stored: the given ones, or all, oldest first."""
        chosen = list(reversed(self.records())) if wanted is None else list(wanted)
        for record in chosen:
            yield record, self.raw(record)


def opened(history: Any, *, create: bool = True) -> AbstractContextManager[History]:
    """The history that a caller means: one that is open and stays so, or its place."""
    return nullcontext(history) if isinstance(history, History) else History.open(history, create=create)


def _needed(connection: sa.Connection) -> set[int]:
    """The records that baselines point at."""
    pairs = connection.execute(sa.select(baselines.c.record_id, baselines.c.anchor_id))
    return {number for pair in pairs for number in pair}


def _checked(number: int | None, name: str = "limit") -> int | None:
    return None if number is None else check_whole(name, number, 0)


def _nothing(connection: sa.Connection, measure: str) -> str:
    """Why a trend is empty, and what there is."""

    def listed(column: sa.Column[Any]) -> list[str]:
        return list(
            connection.execute(sa.select(column).where(column.is_not(None)).distinct().order_by(column)).scalars()
        )

    names, known = measure_names(measure), listed(means.c.measure)
    if not set(names) & set(known):
        return f"no record has the measure {measure!r}; there are: {', '.join(known) or 'no records at all'}"
    wanted = sa.select(means.c.system).where(means.c.measure.in_(names)).distinct().order_by(means.c.system)
    systems, labels = ", ".join(connection.execute(wanted).scalars()), ", ".join(listed(records.c.label)) or "none"
    return f"no record of {measure} is left by this choice; systems there: {systems}; labels: {labels}"


def _baseline(row: sa.Row[Any]) -> StoredBaseline:
    columns = dict(row._mapping)
    del columns["id"]
    settings = columns.pop("settings")
    return StoredBaseline(
        **columns,
        targets=settings.targets,
        forced=settings.forced,
        used=settings.used,
        looser=settings.looser,
    )


def _chunks(ids: list[int]) -> Iterator[list[int]]:
    """A statement takes so many parameters at most."""
    return (ids[start : start + _MANY] for start in range(0, len(ids), _MANY))
