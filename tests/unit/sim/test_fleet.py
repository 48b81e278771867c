"""Fleets: groups, external commands, precision, losses and collisions."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import CascadeError, CommandError, PrecisionError
from kittiwake.core.keys import seed_key
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document

# gulls hold a place with their default controller, terns have another guidance: two structures
MIXED = """
name: mixed
time: {rate_hz: 50, duration_s: 1}
world:
  area: {x_m: [-100, 100], y_m: [-100, 100], z_m: [0, 20]}
  collision_distance_m: 2
vehicles:
  tern-a:
    model: pelican
    start: {position_world_m: [0, 50, 10], yaw_deg: 90}
    guidance: {type: waypoints, positions_world_m: [[0, 50, 10]]}
  gull-a: {model: pelican, start: {position_world_m: [0, 0, 10], yaw_deg: 90}}
  tern-b:
    model: pelican
    start: {position_world_m: [0, 60, 10], yaw_deg: 90}
    guidance: {type: waypoints, positions_world_m: [[5, 60, 10]]}
  gull-b: {model: pelican, start: {position_world_m: [10, 0, 10], yaw_deg: 90}}
"""

# two that begin 1.99 m apart, one 2 m beyond them, one that falls out of the area, one that stays
TROUBLE = """
name: trouble
lost_vehicle: continue
time: {rate_hz: 50, duration_s: 1}
world:
  area: {x_m: [-100, 100], y_m: [-100, 100], z_m: [9.9, 20]}
  collision_distance_m: 2
vehicles:
  near: {model: pelican, start: {position_world_m: [0, 0, 10]}}
  nearer: {model: pelican, start: {position_world_m: [1.99, 0, 10]}}
  touching: {model: pelican, start: {position_world_m: [3.99, 0, 10]}}
  falling:
    model: pelican
    start: {position_world_m: [0, 50, 10], velocity_world_mps: [0, 0, -4]}
  staying: {model: pelican, start: {position_world_m: [0, -50, 10]}}
"""

UPRIGHT = kw.Quaternion(1.0, 0.0, 0.0, 0.0)


def fleet_of(text, **options):
    return build(parse_document(text, "test.yaml"), Path()).fleet(**options)


def by_vehicle(fleet, groups):
    """Return a value per vehicle, by name, from one array per group."""
    return {
        name: np.asarray(array)[..., index]
        for group, array in zip(fleet.groups, groups, strict=True)
        for index, name in enumerate(group.names)
    }


@pytest.fixture(scope="module")
def mixed():
    return fleet_of(MIXED)


@pytest.fixture(scope="module")
def start(mixed):
    with jax.enable_x64(True):
        return jax.jit(lambda key: mixed.init(key))(seed_key(0))


@pytest.fixture(scope="module")
def commands_to_two(mixed, start):
    """Return the actuator commands with and without external commands to two vehicles."""
    external = {
        "gull-b": kw.ThrustAttitude(20.0, UPRIGHT),
        "tern-a": kw.PositionYaw(kw.Vec3(1.0, 50.0, 10.0), 0.5),
    }

    def actuator_commands(state, commands):
        return tuple(group.command for group in mixed.step(state, commands)[1])

    with jax.enable_x64(True):
        left_alone, commanded = jax.jit(
            lambda s: (actuator_commands(s, None), actuator_commands(s, external))
        )(start)

    def fields(groups):
        return {
            name: {
                field: by_vehicle(mixed, [getattr(group, field) for group in groups])[name]
                for field in ("pitch_rad", "roll_rad", "throttle", "yaw_rate_radps")
            }
            for name in mixed.names
        }

    return fields(left_alone), fields(commanded)


@pytest.fixture(scope="module")
def trouble():
    """Return positions, velocities and status over 40 steps by vehicle, and the limits' names."""
    fleet = fleet_of(TROUBLE)

    def seen(groups):
        return tuple(
            (g.truth.position_world_m.z, g.truth.velocity_world_mps.z, g.status) for g in groups
        )

    with jax.enable_x64(True):
        later, recorded = jax.jit(lambda key: fleet.rollout(fleet.init(key), 40, seen))(seed_key(0))
        quantities = [limit.name for limit in fleet.limits(later)[0]]
    heights, speeds, status = (
        by_vehicle(fleet, [group[i] for group in recorded]) for i in range(3)
    )
    return heights, speeds, status, quantities


# groups


def test_vehicles_of_equal_structure_make_one_group_in_the_order_of_the_scenario(mixed):
    assert [group.names for group in mixed.groups] == [("tern-a", "tern-b"), ("gull-a", "gull-b")]
    assert mixed.names == ("tern-a", "tern-b", "gull-a", "gull-b")


def test_parameters_of_one_entry_stay_plain_numbers_and_those_of_several_are_stacked(mixed):
    entry, _, _ = MIXED.replace("gull-a: {", "gull: {count: 2, spacing_m: [3, 0, 0], ").partition(
        "  tern-b"
    )
    _, counted = fleet_of(entry).groups
    assert counted.names == ("gull-1", "gull-2")
    assert isinstance(counted.vehicle.dynamics.mass_kg, float)
    _, gulls = mixed.groups
    assert gulls.vehicle.dynamics.mass_kg.shape == (2,)
    np.testing.assert_array_equal(gulls.vehicle.start.position_world_m.x, [0.0, 10.0])


@pytest.mark.slow
def test_each_vehicle_starts_where_the_scenario_says(mixed, start):
    x = by_vehicle(
        mixed, [g.dynamics.mechanical_state.configuration.position_world_m.x for g in start.groups]
    )
    y = by_vehicle(
        mixed, [g.dynamics.mechanical_state.configuration.position_world_m.y for g in start.groups]
    )
    assert {name: (float(x[name]), float(y[name])) for name in mixed.names} == {
        "tern-a": (0.0, 50.0),
        "gull-a": (0.0, 0.0),
        "tern-b": (0.0, 60.0),
        "gull-b": (10.0, 0.0),
    }
    assert int(start.tick) == 0


def test_the_step_is_one_over_the_rate(mixed):
    assert mixed.dt_s == 0.02


# commands from outside


@pytest.mark.slow
def test_a_command_replaces_the_setpoint_of_guidance(commands_to_two):
    before, after = commands_to_two
    # the controller's hover throttle is 0.59; 20 N need 0.656 of the thrust polynomial
    thrust = np.polyval([40.26064275695, 3.050826953, 0.663881], after["gull-b"]["throttle"])
    assert thrust == pytest.approx(20.0, abs=1e-9)
    assert before["gull-b"]["throttle"] == pytest.approx(0.59, abs=0.01)
    # 1 m to the east of a vehicle that looks north is to its right
    assert before["tern-a"]["roll_rad"] == pytest.approx(0.0, abs=1e-12)
    assert after["tern-a"]["roll_rad"] > 0.05


def test_a_command_changes_no_bit_of_other_vehicles_commands(commands_to_two):
    before, after = commands_to_two
    for name in ("gull-a", "tern-b"):
        assert before[name] == after[name]


def test_a_command_to_an_unknown_vehicle_is_rejected_with_a_suggestion(mixed, start):
    hover = kw.ThrustAttitude(20.0, UPRIGHT)
    with pytest.raises(CommandError, match=r"no vehicle 'gul-a'\..*Did you mean 'gull-a'\?"):
        jax.eval_shape(lambda s: mixed.advance(s, {"gul-a": hover}), start)


@pytest.mark.slow
def test_a_command_without_a_controller_is_rejected_with_the_available_ones(mixed, start):
    velocity = kw.VelocityYawRate(kw.Vec3(1.0, 0.0, 0.0), 0.0)
    with pytest.raises(CascadeError) as refused:
        jax.eval_shape(lambda s: mixed.advance(s, {"gull-a": velocity}), start)
    message = str(refused.value)
    assert "no controller leads from VelocityYawRate to AttitudeThrottle" in message
    assert "qrsim-waypoint (PositionYaw to AttitudeThrottle)" in message
    assert "stick-inversion (ThrustAttitude to AttitudeThrottle)" in message


# precision


def test_double_precision_is_rejected_in_float32_mode_with_the_line_to_write(mixed):
    with jax.enable_x64(False), pytest.raises(PrecisionError) as refused:
        mixed.init(seed_key(0))
    assert "float64, but JAX is in float32 mode" in str(refused.value)
    assert "'with jax.enable_x64(True):'" in str(refused.value)
    assert 'precision="float32"' in str(refused.value)


def test_single_precision_is_rejected_in_float64_mode_with_the_line_to_write():
    fleet = fleet_of(MIXED, single_precision=True)
    with pytest.raises(PrecisionError) as refused:
        fleet.init(seed_key(0))
    assert "'with jax.enable_x64(False):'" in str(refused.value)
    assert 'precision="float64"' in str(refused.value)


@pytest.mark.slow
def test_the_advice_about_precision_works():
    fleet = fleet_of(MIXED, single_precision=True)
    with jax.enable_x64(False):
        shapes = jax.eval_shape(fleet.init, seed_key(0))
    floats = {leaf.dtype for leaf in jax.tree.leaves(shapes) if "float" in str(leaf.dtype)}
    assert floats == {jnp.dtype("float32")}


# losses


@pytest.mark.slow
def test_a_vehicle_that_leaves_its_limits_is_lost_for_a_named_quantity(trouble):
    heights, _, status, quantities = trouble
    lost = int(np.flatnonzero(status["falling"])[0])
    assert heights["falling"][lost] < 9.9 <= heights["falling"][lost - 1]
    assert quantities[status["falling"][lost] - 1] == "z_m"


def test_a_lost_vehicle_is_frozen(trouble):
    heights, speeds, status, _ = trouble
    lost = int(np.flatnonzero(status["falling"])[0])
    assert len(set(status["falling"][lost:])) == 1
    assert len(set(heights["falling"][lost:])) == 1
    assert len(set(speeds["falling"][lost:])) == 1
    assert len(set(heights["falling"][: lost + 1])) == lost + 1


def test_two_vehicles_closer_than_the_distance_have_both_collided(trouble):
    _, _, status, quantities = trouble
    for name in ("near", "nearer"):
        assert quantities[status[name][0] - 1] == "nearest_vehicle_m"


def test_a_vehicle_at_the_distance_has_not_collided(trouble):
    _, _, status, _ = trouble
    assert status["touching"][0] == 0


def test_others_fly_on_after_a_loss(trouble):
    heights, _, status, _ = trouble
    assert not status["staying"].any()
    assert len(set(heights["staying"])) > 1
