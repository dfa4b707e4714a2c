"""Tests of the identity cache, against a list that does the same slowly."""

from hypothesis import given
from hypothesis import strategies as st

from tenure.journal.identities import Identity, IdentityCache, Remembered
from tenure_model.vocabulary.journal import DuplicateStatus

STEPS = st.lists(
    st.tuples(st.sampled_from(["committed", "pending", "forget", "runs"]), st.integers(0, 5), st.integers(0, 1)),
    max_size=40,
)


class SlowCache:
    """The cache of JN-162, word for word: a list of everything, the newest last."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.entries: list[tuple[Identity, DuplicateStatus]] = []

    def enter(self, identity: Identity, status: DuplicateStatus) -> None:
        self.forget(identity)
        self.entries.append((identity, status))
        if len(self.entries) > self.bound:
            for entry in self.entries[:-1]:
                if entry[1] == "committed":
                    self.entries.remove(entry)
                    break

    def forget(self, identity: Identity) -> None:
        self.entries = [entry for entry in self.entries if entry[0] != identity]


@given(STEPS, st.integers(1, 4))
def test_the_cache_does_what_the_rule_says(steps: list[tuple[str, int, int]], bound: int) -> None:
    """Entering makes newest; beyond the bound the oldest committed other one leaves; pending ones stay (JN-162)."""
    cache, slow = IdentityCache(bound), SlowCache(bound)
    for action, number, run in steps:
        identity = (f"r{run}", "p", number)
        if action == "forget":
            cache.forget(identity)
            slow.forget(identity)
        elif action == "runs":
            cache.forget_runs({f"r{run}"})
            slow.entries = [entry for entry in slow.entries if entry[0][0] != f"r{run}"]
        else:
            status: DuplicateStatus = "committed" if action == "committed" else "pending"
            cache.enter(identity, Remembered(number, "e", "1", "null"), status)
            slow.enter(identity, status)

        assert [(kept, status) for kept, _, status in cache.items()] == slow.entries
        assert len(cache) == len(slow.entries)
        assert all((found := cache.find(kept)) is not None and found[1] == status for kept, status in slow.entries)


def test_many_pending_entries_cost_no_walk() -> None:
    """What cannot leave is not looked at: entering stays as cheap beyond the bound."""
    cache = IdentityCache(1)
    for number in range(200_000):
        cache.enter(("r", "p", number), Remembered(number, "e", "1", "null"), "pending")

    assert len(cache) == 200_000
