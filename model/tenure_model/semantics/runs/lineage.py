"""``lineage`` and ``latestRound``: the rounds of one logical run."""

from tenure_model.admission.records import admit_run_id
from tenure_model.admission.refusal import Refusal
from tenure_model.semantics.runs.get import decode, not_found
from tenure_model.semantics.steps import Step, answered, refused
from tenure_model.semantics.world import Run, World
from tenure_model.vocabulary.errors import RunStoreError
from tenure_model.vocabulary.runs import RunRow


def lineage(world: World, run_id: object) -> Step:
    """Every round of the run's lineage, by ordinal and then run id; none for an unknown run.

    One corrupt member fails the whole read with ``decode_failed`` (RS-742). It is a snapshot of its own (RS-745).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "lineage", run_id)

    rows: list[RunRow] = []
    for run in members_of(world, run_id):
        if isinstance(row := decode(run, "lineage"), RunStoreError):
            return answered(world, row)
        rows.append(row)
    return answered(world, tuple(rows))


def latest_round(world: World, run_id: object) -> Step:
    """The explicit round with the highest ordinal, else the run itself, else ``not_found_row`` (RS-743).

    A root with null lineage columns is the answer only where no explicit round exists (RS-744).
    """
    if isinstance(run_id := admit_run_id(run_id), Refusal):
        return refused(world, "latestRound", run_id)

    run = world.runs.get(run_id)
    if run is None:
        return answered(world, not_found("latestRound", run_id))
    explicit = [other for other in world.runs.values() if other.lineage_id == lineage_id_of(run)]
    latest = max(explicit, key=_round_order) if explicit else run
    return answered(world, decode(latest, "latestRound"))


def members_of(world: World, run_id: str) -> tuple[Run, ...]:
    """The rows of the run's lineage, by ordinal, null as 0, and then run id (RS-741, RS-742).

    They are the rows that name the lineage, and the row whose own id it is unless that one names another lineage.
    Parent edges play no part.
    """
    run = world.runs.get(run_id)
    if run is None:
        return ()
    wanted = lineage_id_of(run)
    members = [
        other
        for other in world.runs.values()
        if other.lineage_id == wanted or (other.run_id == wanted and other.lineage_id is None)
    ]
    return tuple(sorted(members, key=_round_order))


def lineage_id_of(run: Run) -> str:
    """The lineage a run belongs to: the one it names, else its own id (RS-740)."""
    return run.run_id if run.lineage_id is None else run.lineage_id


def _round_order(run: Run) -> tuple[int, str]:
    return (0 if run.round_ordinal is None else run.round_ordinal, run.run_id)
