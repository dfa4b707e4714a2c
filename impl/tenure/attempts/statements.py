"""The attempt store's statements, one text each. Every one finds its rows by a primary key.

In every statement ?1..?3 are the attempt's key and ?4..?6, where there is a fence, the owner. A guarded statement
answers a row exactly where its guard held. An optional JSON value that was not supplied is bound as SQL's null, one
that is null as the text ``null``: ``ifnull`` keeps what is stored only for the former (RS-813).
"""

from typing import Final

_COLUMN_NAMES: Final = (
    "run_id",
    "step_key_digest",
    "attempt",
    "state",
    "started_at_ms",
    "finished_at_ms",
    "heartbeat_at_ms",
    "checkpoint_json",
    "error_json",
    "outcome_json",
    "meta_json",
)
_COLUMNS: Final = ", ".join(f"flows_attempts.{name}" for name in _COLUMN_NAMES)
_KEY: Final = "flows_attempts.run_id = ?1 AND flows_attempts.step_key_digest = ?2 AND flows_attempts.attempt = ?3"
_OWNED: Final = "status = 'running' AND owner_host_id = ?4 AND owner_pid = ?5 AND owner_nonce = ?6"
# The fence of every write: the run's row, not its lease (RS-810).
_FENCE: Final = f"EXISTS (SELECT 1 FROM flows_runs WHERE run_id = ?1 AND {_OWNED})"


def _in_progress(states: str) -> str:
    """Whether the stored state is among those that mean "still moving", bound as one JSON array."""
    return f"state IN (SELECT value FROM json_each({states}))"


# ?7..?14 the other columns.
INSERT: Final = f"""
    INSERT INTO flows_attempts ({", ".join(_COLUMN_NAMES)})
    SELECT ?1, ?2, ?3, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 WHERE {_FENCE}
    ON CONFLICT (run_id, step_key_digest, attempt) DO NOTHING
    RETURNING 1
"""
OVERWRITE: Final = f"""
    UPDATE flows_attempts SET
      state = ?7, started_at_ms = ?8, finished_at_ms = ?9, heartbeat_at_ms = ?10,
      checkpoint_json = ?11, error_json = ?12, outcome_json = ?13, meta_json = ?14
    WHERE {_KEY} AND {_in_progress("?15")} AND {_FENCE}
    RETURNING 1
"""

# What a put that wrote nothing is told: a row where the run is there, whether the fence holds, and what is stored. The
# stored columns are read only behind the fence, so that a corrupt attempt never hides a lost one (RS-822, RS-824).
RECORDED: Final = f"""
    SELECT {_OWNED}, {_COLUMNS} FROM flows_runs LEFT JOIN flows_attempts ON {_OWNED} AND {_KEY}
    WHERE flows_runs.run_id = ?1
"""

GET: Final = f"SELECT {_COLUMNS} FROM flows_attempts WHERE {_KEY}"

# ?8 now, ?9 the checkpoint.
HEARTBEAT: Final = f"""
    UPDATE flows_attempts SET
      heartbeat_at_ms = max(ifnull(heartbeat_at_ms, ?8), ?8), checkpoint_json = ifnull(?9, checkpoint_json)
    WHERE {_KEY} AND {_in_progress("?7")} AND {_FENCE}
    RETURNING 1
"""
# ?8 the new state, ?9 when, ?10..?12 error, outcome, meta.
FINISH: Final = f"""
    UPDATE flows_attempts SET
      state = ?8, finished_at_ms = ?9,
      error_json = ifnull(?10, error_json), outcome_json = ifnull(?11, outcome_json), meta_json = ifnull(?12, meta_json)
    WHERE {_KEY} AND {_in_progress("?7")} AND {_FENCE}
    RETURNING 1
"""
# ?7..?10 checkpoint, error, outcome, meta.
PATCH: Final = f"""
    UPDATE flows_attempts SET
      checkpoint_json = ifnull(?7, checkpoint_json), error_json = ifnull(?8, error_json),
      outcome_json = ifnull(?9, outcome_json), meta_json = ifnull(?10, meta_json)
    WHERE {_KEY} AND {_FENCE}
    RETURNING 1
"""

# What the others that wrote nothing are told: whether the attempt is there, and whether the fence holds (RS-842).
LOSS: Final = f"SELECT EXISTS (SELECT 1 FROM flows_attempts WHERE {_KEY}), {_FENCE}"

STATEMENTS: Final = (INSERT, OVERWRITE, RECORDED, GET, HEARTBEAT, FINISH, PATCH, LOSS)
"""Every statement of the attempt store."""
