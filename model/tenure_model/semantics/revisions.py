"""What every mutation of a run row costs: one revision, and the change row that carries it (RS-160..RS-167).

The functions state what the triggers do. None of them stops at the last revision: an operation whose world went past it
is rolled back as a whole where its transaction ends (``steps.committed``, RS-164).
"""

from tenure_model.semantics.world import Change, Run, World


def insert_run(world: World, run: Run) -> World:
    """Add a row: one revision; a tombstone of the same id comes alive with it (RS-161, RS-165)."""
    return _put_run(world, run)


def update_run(world: World, run: Run) -> World:
    """Rewrite a row: one revision, also when no value differs (RS-161, RS-163). The run id never changes (RS-162)."""
    return _put_run(world, run)


def delete_run(world: World, run_id: str) -> World:
    """Remove a row: one revision, and a change row that stays for ever as a tombstone (RS-161, RS-165)."""
    revision = world.revision + 1
    return World(
        world.profile,
        {other: run for other, run in world.runs.items() if other != run_id},
        world.leases,
        {**world.changes, run_id: Change(revision, deleted=True)},
        revision,
        world.facts,
        world.source,
    )


def _put_run(world: World, run: Run) -> World:
    revision = world.revision + 1
    return World(
        world.profile,
        {**world.runs, run.run_id: run},
        world.leases,
        {**world.changes, run.run_id: Change(revision, deleted=False)},
        revision,
        world.facts,
        world.source,
    )
