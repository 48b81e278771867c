"""Missions: sequence of steps, rules, timeouts, and log events."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.point_mass import ANYWHERE, DT_S, KEY, fly, inputs_at

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import CommandChoice, MotorsOff, PositionYaw, VelocityYaw
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import TASKS
from kittiwake.guidance.conditions import Condition
from kittiwake.guidance.landing.land import Land
from kittiwake.guidance.maneuvers.disarm import Disarm
from kittiwake.guidance.maneuvers.goto import Goto
from kittiwake.guidance.maneuvers.hold import Hold
from kittiwake.guidance.maneuvers.return_home import ReturnHome
from kittiwake.guidance.maneuvers.takeoff import Takeoff
from kittiwake.guidance.maneuvers.waypoints import Waypoints
from kittiwake.guidance.mission import Mission, MissionStep, Rule, registered_name

HERE, THERE, UP = Vec3(0.0, 0.0, 2.0), Vec3(6.0, 0.0, 2.0), Vec3(6.0, 0.0, 8.0)


def events(mission, flight):
    """Return the log events in order."""
    texts, phases = mission.phases(), np.asarray(flight[4])
    changes = [phases[0], *(b for a, b in pairwise(phases) if a != b)]
    return [texts[phase] for phase in changes if texts[phase]]


def test_steps_follow_each_other_when_each_is_done():
    mission = Mission(
        (MissionStep(Goto(THERE)), MissionStep(Goto(UP), name="up"), MissionStep(Land(0.0)))
    )
    flight = fly(mission, HERE, 30.0)
    assert events(mission, flight) == [
        "began goto",
        "began up",
        "land: descending",
        "land: slowing down",
        "land: flaring",
        "land: touching down",
        "land: motors off",
        "mission done",
    ]
    _, place, point, off, _, finished = flight
    first_up = int(np.argmax(np.asarray(point.z) == 8.0))
    # within the radius, or the step of 6 cm after it
    assert float((place.x[first_up] - 6.0) ** 2) ** 0.5 < 0.3
    assert np.asarray(off)[int(np.argmax(finished)) :].all()


def test_a_step_ends_after_its_time():
    mission = Mission((MissionStep(Hold(), for_s=1.0), MissionStep(Goto(THERE))))
    time_s, _, point, *_ = fly(mission, HERE, 3.0)
    began = time_s[np.argmax(np.asarray(point.x) == 6.0)]
    assert float(began) == pytest.approx(1.0, abs=1e-6)


def test_a_step_ends_when_its_condition_has_held_for_its_time():
    until = Condition("x_m", above=3.0, for_s=0.5)
    mission = Mission((MissionStep(Goto(THERE, radius_m=0.01), until=until), MissionStep(Goto(UP))))
    time_s, place, point, *_ = fly(mission, HERE, 5.0)
    passed = time_s[np.argmax(np.asarray(place.x) > 3.0)]
    began = time_s[np.argmax(np.asarray(point.z) == 8.0)]
    assert float(began - passed) == pytest.approx(0.5, abs=0.021)


def test_timeout_starts_another_step():
    slow = MissionStep(Goto(THERE, radius_m=0.01), timeout_s=0.5, on_timeout="home")
    mission = Mission((slow, MissionStep(Goto(UP)), MissionStep(Goto(HERE), name="home")))
    flight = fly(mission, HERE, 4.0)
    assert events(mission, flight) == [
        "began goto",
        "began home, timeout",
        "mission done",
    ]


def test_steps_may_form_a_loop():
    mission = Mission(
        (MissionStep(Goto(THERE), name="out"), MissionStep(Goto(HERE), name="back", then="out")),
    )
    flight = fly(mission, HERE, 20.0)
    texts = events(mission, flight)
    assert texts[:4] == ["began out", "began back", "began out", "began back"]
    assert not np.asarray(flight[5]).any()


def test_rule_interrupts_once_and_is_the_logged_cause():
    rule = Rule(Condition("x_m", above=2.0), go_to="home")
    mission = Mission(
        (MissionStep(Goto(THERE)), MissionStep(Goto(HERE), name="home", then="goto")), rules=(rule,)
    )
    texts = events(mission, fly(mission, HERE, 10.0))
    assert texts[:3] == ["began goto", "began home, because x is above 2 m", "began goto"]
    assert sum("because" in text for text in texts) == 1


def test_rule_is_active_only_in_its_steps():
    rule = Rule(Condition("x_m", above=2.0), go_to="home", during=("up",))
    steps = (
        MissionStep(Goto(THERE)),
        MissionStep(Goto(UP), name="up"),
        MissionStep(Goto(HERE), name="home"),
    )
    texts = events(Mission(steps, (rule,)), fly(Mission(steps, (rule,)), HERE, 12.0))
    assert texts == ["began goto", "began up", "began home, because x is above 2 m", "mission done"]


def test_first_rule_has_priority():
    rules = tuple(Rule(Condition("x_m", above=2.0), go_to=name) for name in ("b", "a"))
    steps = (MissionStep(Goto(THERE)), MissionStep(Hold(), name="a"), MissionStep(Hold(), name="b"))
    flight = fly(Mission(steps, rules), HERE, 2.0)
    assert events(Mission(steps, rules), flight)[1] == "began b, because x is above 2 m"


@pytest.mark.slow
def test_step_can_be_requested():
    mission = Mission(
        (MissionStep(Hold()), MissionStep(Goto(THERE)), MissionStep(Goto(UP), name="up"))
    )
    state, _ = mission.step(mission.init(KEY), inputs_at(HERE), DT_S, KEY)
    state = mission.jump_to_mission_step(state, "up")
    state, command = mission.step(state, inputs_at(HERE, 5.0), DT_S, KEY)
    assert command.position_world_m == as_arrays(UP)
    assert mission.phases()[int(mission.phase(state))] == "began up, on request"
    with pytest.raises(CommandError, match="there is no step 'uo'.*Did you mean 'up'"):
        mission.jump_to_mission_step(state, "uo")


def test_finished_mission_can_be_resumed():
    mission = Mission((MissionStep(Goto(THERE)), MissionStep(Disarm())))
    state = mission.init(KEY)
    for tick in range(4):
        state, command = mission.step(state, inputs_at(THERE, tick * DT_S), DT_S, KEY)
    assert bool(mission.finished(state))
    assert int(command.index) == mission.command_types().index(MotorsOff)
    state, command = mission.step(
        mission.jump_to_mission_step(state, "goto"), inputs_at(HERE, 9.0), DT_S, KEY
    )
    assert not bool(mission.finished(state))
    assert int(command.index) == mission.command_types().index(PositionYaw)


def test_each_step_has_its_own_time_and_initial_position():
    # holding where it is then, and going smoothly from there
    mission = Mission((MissionStep(Hold(), for_s=1.0), MissionStep(Goto(THERE, speed_mps=1.0))))
    state, _ = mission.step(mission.init(KEY), inputs_at(HERE), DT_S, KEY)
    drifted = Vec3(1.0, 1.0, 2.0)
    for time_s in (1.0, 1.02):
        state, command = mission.step(state, inputs_at(drifted, time_s), DT_S, KEY)
    gone = command.position_world_m - drifted
    # 0.02 s of several: what a motion of least jerk does at first is tiny
    assert float(gone.norm()) < 1e-4
    assert float(command.velocity_world_mps.norm()) > 0.0


def test_commands_of_several_types_are_distinguished():
    mission = Mission(
        (MissionStep(Hold(velocity_world_mps=HERE), for_s=0.02), MissionStep(Land(0.0)))
    )
    assert mission.command_types() == (VelocityYaw, PositionYaw, MotorsOff)
    state, command = mission.step(mission.init(KEY), inputs_at(HERE), DT_S, KEY)
    assert isinstance(command, CommandChoice)
    assert int(command.index) == 0
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(command))
    _, command = mission.step(state, inputs_at(HERE, 0.02), DT_S, KEY)
    assert int(command.index) == 1


@pytest.mark.slow
def test_waypoints_of_all_steps_are_counted():
    places = (Vec3(1.0, 0.0, 2.0), Vec3(2.0, 0.0, 2.0))
    mission = Mission(
        (MissionStep(Waypoints(places), for_s=3.0), MissionStep(Waypoints(places, yaw_rad=1.0)))
    )
    assert mission.planned_waypoints() == 4
    state = mission.init(KEY)
    for tick, place in enumerate((*places, places[1], HERE, *places)):
        time_s = tick * DT_S + (3.0 if tick > 2 else 0.0)
        state, _ = mission.step(state, inputs_at(place, time_s), DT_S, KEY)
    assert int(mission.waypoints_reached(state)) == 4


@pytest.mark.slow
def test_conditions_may_refer_to_sensors_and_actuators():
    read = {"charge": 0.4}
    for condition, holds in [
        (Condition("act_charge", below=0.5), True),
        (Condition("act_charge", above=0.2, below=0.3), False),
        (Condition("speed_mps", above=0.1), True),
        (Condition("distance_to_home_m", above=6.4), True),
        (Condition("distance_to_home_m", above=6.5), False),
    ]:
        mission = Mission((MissionStep(Hold(), until=condition), MissionStep(Disarm())))
        state, _ = mission.step(
            mission.init(KEY), inputs_at(HERE, readings={"act": 1.0, "charge": 0.4}), DT_S, KEY
        )
        later = inputs_at(Vec3(5.0, 4.0, 2.0), DT_S, Vec3(1.0, 0.0, 0.0), readings=read)
        _, command = mission.step(state, later, DT_S, KEY)
        assert bool(command.index == 1) is holds, condition


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: Mission(()), "`steps`: got none; must be at least one"),
        (
            lambda: Mission((MissionStep(Hold(), "a"), MissionStep(Disarm(), "a"))),
            "two steps are called a",
        ),
        (
            lambda: Mission((MissionStep(Hold(), then="hop"),)),
            "steps.0.then: there is no step 'hop'",
        ),
        (
            lambda: Mission((MissionStep(Hold(), on_timeout="hold"),)),
            "on_timeout`: requires timeout_s",
        ),
        (
            lambda: Mission((MissionStep(Hold()),), (Rule(Condition("x_m", above=1.0), "x"),)),
            "rules.0.go_to: there is no step 'x'",
        ),
        (
            lambda: Mission(
                (MissionStep(Hold()),), (Rule(Condition("x_m", above=1.0), "hold", ("y",)),)
            ),
            "rules.0.during: there is no step 'y'",
        ),
        (lambda: Condition("x_m"), "`x_m`: has no bound"),
    ],
)
def test_invalid_missions_are_refused(build, expected):
    with pytest.raises((ValueError, KittiwakeError), match=expected):
        build()


def test_unnamed_steps_of_one_kind_are_numbered():
    mission = Mission(
        (
            MissionStep(Hold()),
            MissionStep(Disarm()),
            MissionStep(Hold()),
            MissionStep(Disarm(), name="hold-2"),
        )
    )
    assert mission.names == ["hold", "disarm", "hold-3", "hold-2"]


def test_default_name_of_a_step_is_the_registered_name_of_its_task():
    for name in TASKS.names():
        task_type = TASKS.find(name)
        assert registered_name(object.__new__(task_type)) == name


def test_timeout_of_the_last_step_does_not_finish_the_mission():
    mission = Mission((MissionStep(Goto(THERE, radius_m=0.01), timeout_s=0.5),))
    flight = fly(mission, HERE, 2.0)
    assert events(mission, flight) == [
        "began goto",
        "mission ended by the timeout of its last step",
    ]
    assert not np.asarray(flight[5]).any()


def test_step_of_waypoints_ends_at_the_last_one():
    mission = Mission((MissionStep(Waypoints((THERE, UP))), MissionStep(Goto(HERE), name="back")))
    assert events(mission, fly(mission, HERE, 12.0)) == [
        "began waypoints",
        "began back",
        "mission done",
    ]


def test_each_step_is_prepared_from_the_end_of_the_previous_one():
    class Noted(Goto):
        def prepare(self, context):
            seen.append(context.task_start_world_m)
            return self

    seen = []
    steps = (Goto(THERE), Takeoff(3.0), ReturnHome(), Land(0.5), Noted(UP))
    Mission(tuple(MissionStep(do) for do in steps)).prepare(ANYWHERE)
    assert seen == [Vec3(0.0, 0.0, 0.5)]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: Condition("z_m", above=5.0, below=1.0), "cannot be above 5 and below 1"),
        (
            lambda: Mission(
                (MissionStep(Hold()),), (Rule(Condition("x_m", above=1.0), "hold", ("hold",)),)
            ),
            "`rules.0`: would never apply",
        ),
        (lambda: Mission((MissionStep(Hold(), name=""),)), "must not be empty"),
    ],
)
def test_contradictions_are_refused(build, expected):
    with pytest.raises(ValueError, match=expected):
        build()
