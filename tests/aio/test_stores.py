"""The stores for tasks against the stores for threads: the same operations, parameters and answers."""

import inspect
import subprocess
import sys

import pytest

import tenure
import tenure.aio
from tests.aio.support import JOURNAL, A

pytestmark = pytest.mark.anyio

PAIRS = {
    "runs": (tenure.RunStore, tenure.aio.RunStore),
    "attempts": (tenure.AttemptStore, tenure.aio.AttemptStore),
    "journal": (tenure.Journal, tenure.aio.Journal),
}
ELSEWHERE = {
    # For the inside of a unit of work, which has the synchronous store.
    ("journal", "when_committed"),
    # Whoever waits for nothing needs no task.
    ("journal", "begin_flush"),
}
FOLLOWED = ("stream", "changes", "project")


def operations(room):
    """The operations of a room of the synchronous store, by name."""
    return [
        name
        for name, member in vars(PAIRS[room][0]).items()
        if not name.startswith("_") and callable(member) and (room, name) not in ELSEWHERE
    ]


ALL = [(room, name) for room in PAIRS for name in operations(room)]


def parameters(function):
    """Names, kinds and defaults."""
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize(("room", "name"), ALL)
async def test_every_operation_is_there(room, name):
    """The same parameters, kinds and defaults; what waits is a coroutine function."""
    theirs, ours = (getattr(kind, name) for kind in PAIRS[room])

    if (room, name) == ("journal", "transact"):
        # It runs a body; as a context manager it would hold a transaction across waits.
        assert list(inspect.signature(ours).parameters) == ["self", "body"]
    else:
        assert parameters(ours) == parameters(theirs)
    assert inspect.iscoroutinefunction(ours) == (name not in FOLLOWED)


class Recorder:
    """In place of a synchronous store: keeps each call, and answers with something of its own."""

    def __init__(self):
        self.calls = []
        self.answer = object()

    def __getattr__(self, name):
        def call(*arguments, **keywords):
            self.calls.append((name, arguments, keywords))
            return self.answer

        return call


@pytest.mark.parametrize(("room", "name"), [pair for pair in ALL if pair[1] not in FOLLOWED])
@pytest.mark.parametrize("everything", [True, False], ids=["all", "required"])
async def test_every_argument_gets_through(room, name, everything, anyio_backend):
    """Each argument arrives at its own parameter, each default too, and the answer comes back."""
    recorder = Recorder()
    theirs, kind = PAIRS[room]
    signature = inspect.signature(getattr(theirs, name))
    given = {}
    for parameter in list(signature.parameters.values())[1:]:
        if everything or parameter.default is parameter.empty or name == "transact":
            given[parameter.name] = object()
    positional = {
        key: value for key, value in given.items() if signature.parameters[key].kind != inspect.Parameter.KEYWORD_ONLY
    }
    keywords = {key: value for key, value in given.items() if key not in positional}
    with tenure.open(":memory:") as sync:
        workers = tenure.aio.wrap(sync)._workers
        answer = await getattr(kind(workers, recorder), name)(*positional.values(), **keywords)
    ((called, arguments, passed),) = recorder.calls
    bound = signature.bind(None, *arguments, **passed)
    bound.apply_defaults()
    expected = signature.bind(None, *positional.values(), **keywords)
    expected.apply_defaults()

    assert called == name
    assert bound.arguments == expected.arguments
    assert answer is (None if name in ("create", "flush", "forget", "close") else recorder.answer)


async def test_opening_takes_what_opening_takes():
    """Every parameter of ``tenure.open``, and the number of threads; the timing is that of a loop."""
    theirs = parameters(tenure.open)

    assert parameters(tenure.aio.open) == [*theirs, ("threads", inspect.Parameter.KEYWORD_ONLY, 16)]


async def test_a_store_has_what_a_store_has():
    """Every public member of ``tenure.Store`` that is not for the inside of a unit of work, which has ``sync``."""
    inside = {"after_commit", "clock", "database", "transaction"}
    theirs, ours = (
        {name for name in dir(kind) if not name.startswith("_")} for kind in (tenure.Store, tenure.aio.Store)
    )

    assert ours == (theirs - inside) | {"sync"}


async def test_a_store_from_end_to_end(anyio_backend, tmp_path):
    """A run, its attempt and its history, by tasks."""
    async with tenure.aio.open(tmp_path / "runs.db", journal=JOURNAL, clock=lambda: 5_000) as store:
        await store.runs.create("r", "{}")
        assert await store.runs.claim_and_own("r", tenure.PENDING, A, store.now()) == tenure.Activated()
        attempt = tenure.Attempt("r", "step", 0, "running", 5_000, {})
        assert await store.attempts.put(attempt, A) == tenure.Inserted()
        event = {"runId": "r", "sourceId": "s", "eventType": "e", "payload": 1}
        receipt = await store.journal.emit_durable(event, A)
        await store.journal.checkpoint("r", receipt.seq, {"done": 1}, A)
        page = await store.journal.entries("r", limit=10)

        assert store.attempts.options == store.sync.attempts.options
        assert store.counters.total("flows_run_claims", op="claim_and_own", outcome="activated") == 1
        assert [entry.seq for entry in page.entries][-1] == receipt.seq
        assert (await store.journal.latest_checkpoint("r")).state == {"done": 1}


async def test_an_error_is_that_of_the_synchronous_store(anyio_backend):
    """Refusals and storage errors come through as they are."""
    async with tenure.aio.open(":memory:") as store:
        with pytest.raises(tenure.RunStoreError) as raised:
            await store.runs.create("", "{}")
        with pytest.raises(tenure.UsageError, match="without a journal"):
            store.journal.changes()

    assert raised.value.code == "invalid_run"


async def test_what_cannot_be_opened(anyio_backend, tmp_path):
    """The error of ``tenure.open``."""
    with pytest.raises(tenure.OpenError):
        async with tenure.aio.open(tmp_path / "missing" / "runs.db"):
            raise AssertionError("entered")


@pytest.mark.parametrize("threads", [0, -1, 1.0, True, None])
async def test_what_is_no_number_of_threads(anyio_backend, tmp_path, threads):
    """It is named, and nothing opened."""
    with pytest.raises(tenure.UsageError, match=r"^threads must be an integer of 1 or more$"):
        async with tenure.aio.open(tmp_path / "runs.db", threads=threads):
            raise AssertionError("entered")
    with (
        tenure.open(":memory:") as sync,
        pytest.raises(tenure.UsageError, match=r"^threads must be an integer of 1 or more$"),
    ):
        tenure.aio.wrap(sync, threads=threads)

    assert not (tmp_path / "runs.db").exists()


async def test_an_exception_of_the_block_is_as_it_was(anyio_backend):
    """Nothing wraps it in a group."""
    with pytest.raises(KeyError):
        async with tenure.aio.open(":memory:"):
            raise KeyError("no")


async def test_a_unit_of_work(anyio_backend):
    """``write`` answers what its body answered; ``transact`` too. What a body raises undoes everything."""

    def body(sync, run_id):
        sync.runs.create(run_id, "{}")
        return sync.runs.get(run_id).status

    def broken(sync):
        sync.runs.create("broken", "{}")
        raise KeyError("no")

    async with tenure.aio.open(":memory:", journal=JOURNAL) as store:
        assert await store.write(body, store.sync, "r") == "pending"
        assert await store.journal.transact(lambda: body(store.sync, "s")) == "pending"
        with pytest.raises(KeyError):
            await store.write(broken, store.sync)
        with pytest.raises(tenure.RunStoreError, match="not found"):
            await store.runs.get("broken")


def run(code):
    """A fresh interpreter's answer to some code."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_library_does_without_anyio():
    """``import tenure`` imports neither anyio nor what needs it."""
    result = run("import sys, tenure; print({'anyio', 'trio', 'asyncio', 'tenure.aio'} & set(sys.modules))")

    assert (result.stdout, result.stderr) == ("set()\n", "")


def test_without_anyio_the_extra_is_named():
    """Where the extra is not installed, the error says how it is."""
    result = run("import sys; sys.modules['anyio'] = None; import tenure.aio")

    assert "ImportError: tenure.aio needs anyio: install tenure[aio]" in result.stderr
