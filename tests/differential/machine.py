"""The same scenarios drawn by Hypothesis: fewer steps, odder values, and a counterexample shrunk to its core."""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.differential.choice import DrawnChooser
from tests.differential.pair import close_pair
from tests.differential.pairs import ARENAS, Arena, is_on_file
from tests.differential.simulator import Tally


class StoreAgainstModel(RuleBasedStateMachine):
    """One scenario as a state machine: a rule takes one step on model and store and compares everything."""

    tally: ClassVar[Tally] = Tally()
    failed_in: ClassVar[list[Arena]] = []
    """The arena of the last example that was begun: where a failure comes from."""

    @initialize(data=st.data(), arena=st.sampled_from(ARENAS))
    def open(self, data: st.DataObject, arena: Arena) -> None:
        """Open one store in memory, or several instances on a file."""
        self.failed_in[:] = [arena]
        self.pair = arena.make_pair()
        self.scenario = arena.scenario(DrawnChooser(data.draw), self.pair)
        self.tally.episodes += 1
        self.tally.instances += len(self.pair.sessions)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Take one step."""
        self.scenario.redirect(DrawnChooser(data.draw))
        crashes = self.scenario.crashes
        cell = self.scenario.step()
        self.tally.steps += 1
        self.tally.by_file += is_on_file(self.pair)
        self.tally.crashes += self.scenario.crashes - crashes
        if cell is not None:
            self.tally.cells[cell] += 1

    def teardown(self) -> None:
        if hasattr(self, "pair"):
            close_pair(self.pair)
