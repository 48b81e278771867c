import jax
from jax.core import Tracer

from kittiwake.sim.team_radio import Membership, build_roster


def test_a_roster_of_a_traced_program_can_be_used_after_it():
    names, teams = ["tern", "gull"], {"gull": Membership("birds"), "tern": Membership("birds")}
    rosters = []

    @jax.jit
    def traced(number):
        rosters.append(build_roster(names, teams))
        return number

    traced(1.0)
    leaves = jax.tree.leaves((rosters, build_roster(names, teams)))
    assert not any(isinstance(leaf, Tracer) for leaf in leaves)
    assert rosters[0].index_in_team.tolist() == [1, 0]
