"""The same scenarios drawn by Hypothesis: fewer steps, odder values, and a counterexample shrunk to its core."""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.differential.choice import DrawnChooser
from tests.differential.pair import MakePair, close_pair
from tests.differential.pairs import pair_of
from tests.differential.scenario import Scenario
from tests.differential.simulator import Tally


class StoreAgainstModel(RuleBasedStateMachine):
    """One scenario as a state machine: a rule takes one step on model and store and compares everything."""

    tally: ClassVar[Tally] = Tally()
    make_pair: ClassVar[MakePair | None] = None

    @initialize(data=st.data(), sessions=st.sampled_from((1, 3)))
    def open(self, data: st.DataObject, sessions: int) -> None:
        """Open one store in memory, or three instances on a file."""
        self.pair = type(self).make_pair() if type(self).make_pair is not None else pair_of(sessions)()
        self.scenario = Scenario(DrawnChooser(data.draw), self.pair)
        self.tally.episodes += 1
        self.tally.instances += len(self.pair.sessions)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Take one step."""
        self.scenario.redirect(DrawnChooser(data.draw))
        crashes = self.scenario.crashes
        cell = self.scenario.step()
        self.tally.steps += 1
        self.tally.by_file += len(self.pair.sessions) > 1
        self.tally.crashes += self.scenario.crashes - crashes
        if cell is not None:
            self.tally.cells[cell] += 1

    def teardown(self) -> None:
        if hasattr(self, "pair"):
            close_pair(self.pair)
