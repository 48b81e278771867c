"""Return of a task in a loop of steps: the loop's commands are flown again where rewards count.

A step that computes the reward takes much longer, so the loop itself does not. What has been flown
again for one log continues for the next one.
"""

from kittiwake.core.errors import OwnComponentError
from kittiwake.runtime.commands import Commands
from kittiwake.runtime.stepper import Stepper
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.size import steps_in
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.hosts import previewed, with_new_hosts
from kittiwake.sim.state import FleetState
from kittiwake.tasks.task_commander import next_reward_tick, with_last_tick


class StepScore:
    """Commands of a loop from its start, and the fleet that scores them."""

    def __init__(self, fleet: Fleet, scenario: Scenario, seed: int) -> None:
        """Begin a loop.

        Args:
            fleet: the fleet whose commander computes the rewards.
            scenario: the scenario.
            seed: the seed of the loop.
        """
        self._fleet, self._scenario, self._seed = with_new_hosts(fleet), scenario, seed
        self._waiting: list[Commands] = []
        self._last: Commands = {}
        self._stepper: Stepper | None = None

    def add(self, commands: Commands) -> None:
        """Add the commands of a step."""
        # the caller may change the mapping afterwards
        self._waiting.append({**commands})

    def state(self) -> FleetState:
        """Return the present state with all rewards up to now."""
        stepper = self._begun()
        for commands in self._waiting:
            stepper.step(commands)
            self._last = commands
        self._waiting = []
        return self._rewarded(stepper)

    def _begun(self) -> Stepper:
        if self._stepper is None:
            scenario = self._scenario
            self._stepper = Stepper(self._fleet, scenario.vehicles)
            self._stepper.reset(self._seed, None)
            last_tick = steps_in(scenario.duration_s, scenario.rate_hz)
            self._stepper.set_state(with_last_tick(self._stepper.state, last_tick))
        return self._stepper

    def _rewarded(self, stepper: Stepper) -> FleetState:
        """Return the state with the reward of this tick, which the step to come computes."""
        before = stepper.state
        try:
            with previewed(self._fleet):
                stepper.step(self._last)
                # of a lost vehicle that of the whole control step counts, as in a run
                while stepper.done(self._scenario) and _awaits_reward(stepper.state):
                    stepper.step(self._last)
                return stepper.state
        except OwnComponentError:
            # a component in plain Python fails, or cannot be copied
            return before
        finally:
            stepper.set_state(before)


def _awaits_reward(state: FleetState) -> bool:
    tick = next_reward_tick(state)
    return tick is not None and int(state.tick) <= tick
