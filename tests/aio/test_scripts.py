"""The scripts that are played to the threads' supervisor, played to the tasks' supervisor, on both backends."""

import inspect

import pytest
from anyio.from_thread import start_blocking_portal

from tests.aio.stage import LoopStage
from tests.ownership import test_hooks, test_supervisor

SCRIPTS = {**vars(test_supervisor), **vars(test_hooks)}
OTHERWISE = {
    "test_a_receipt_that_hangs": "what it holds is a thread",
    "test_a_block_left_while_its_beat_waits_for_the_database": "it leaves the block from the writer's thread",
    "test_a_block_left_while_its_beat_is_written": "it leaves the block from the writer's thread",
    "test_reconfirmations_are_written_before_beats": "its writer has not taken the beats that wait",
    "test_a_hook_that_is_cancelled_from_within": "how a task is cancelled is its own matter",
    "test_a_thousand_runs_share_threads_and_transactions": "it counts threads",
    "test_runs_that_beat_together_once_stay_together": "its writer has not taken the beats that wait",
    "test_an_exception_of_the_body_is_not_replaced": "its body is cancelled before it raises",
    "test_what_is_logged": "it counts threads",
}
"""Scripts that are not for tasks; ``test_supervision`` has what corresponds to them."""

globals().update(
    {
        name: script
        for name, script in SCRIPTS.items()
        if name.startswith("test_") and "stage" in inspect.signature(script).parameters and name not in OTHERWISE
    }
)


@pytest.fixture
def stage(anyio_backend):
    """A stage whose store beats well."""
    with start_blocking_portal(anyio_backend) as portal:
        yield LoopStage(portal)


def test_every_exception_is_a_script():
    """What is played otherwise exists."""
    assert [name for name in OTHERWISE if name not in SCRIPTS] == []
