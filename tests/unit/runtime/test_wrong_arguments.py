"""Wrong arguments of the public functions: what was given, what is allowed, what to write."""

import numpy as np
import pytest

import kittiwake as kw


class WithoutUpdate:
    """Object that is no component."""


class Spring:
    """Controller whose class is given instead of an object."""

    def update(self, t_s, setpoint, estimate):
        return kw.AccelerationYaw([0.0, 0.0, 0.0], 0.0)


def vehicle(**parts):
    return kw.Vehicle(model="hummingbird", start={"position_world_m": [0, 0, 2]}, **parts)


def scenario(**given):
    return kw.Scenario(**{"vehicles": {"h": vehicle()}, "duration_s": 0.1, "rate_hz": 50} | given)


def with_parts(**parts):
    return scenario(vehicles={"h": vehicle(**parts)})


def with_world(**given):
    return scenario(world=kw.World(**given))


@pytest.fixture(scope="module")
def simulation():
    return kw.Simulation(scenario())


SPHERE = kw.environment.Sphere(center_world_m=[5, 0, 5], radius_m=1)
DEFINITIONS = {
    "a word as world": (lambda: scenario(world="calm"), "`world`: got 'calm'; must be a kw.World"),
    "a class as world": (lambda: scenario(world=kw.World), r"the class World; .* Write World\("),
    "an array as world": (lambda: scenario(world=np.zeros(3)), r"an array of shape \(3,\)"),
    "a list of vehicles": (
        lambda: scenario(vehicles=[vehicle()]),
        r"`vehicles`: got a list; must be a mapping .* Write vehicles=\{'h': kw.Vehicle",
    ),
    "a model as vehicles": (
        lambda: scenario(vehicles="hummingbird"),
        r"Write vehicles=\{'h': kw.Vehicle\(model='hummingbird'\)\}",
    ),
    "a model as vehicle": (
        lambda: scenario(vehicles={"b": "os4", "c": vehicle()}),
        r"Write vehicles=\{'b': kw.Vehicle\(model='os4'\)\}",
    ),
    "dynamics as vehicle": (
        lambda: scenario(vehicles={"h": kw.vehicles.hummingbird()}),
        r"kw.Vehicle\(dynamics=kw.vehicles.hummingbird\(\)\)",
    ),
    "no vehicle": (lambda: scenario(vehicles={"h": None}), "`vehicles`: got {'h': None}"),
    "a class as vehicle": (lambda: scenario(vehicles={"h": kw.Vehicle}), "must be a mapping"),
    "too many arguments": (
        lambda: kw.Scenario(None, {"h": vehicle()}, "name"),
        r"Scenario: got 'name' without a name; write Scenario\(name='name'\)",
    ),
    "a word as rate": (lambda: scenario(rate_hz="fast"), "rate_hz: 'fast' is not allowed"),
    "an array as rate": (lambda: scenario(rate_hz=np.ones(2)), "must be a number"),
    "a fraction as seed": (lambda: scenario(seed=1.5), "must be a whole number"),
    "a list as duration": (lambda: scenario(duration_s=[1]), "must be a number"),
    "a name as dynamics": (
        lambda: kw.Vehicle(dynamics="hummingbird"),
        "`dynamics`: got 'hummingbird'; must be a model with parameters.* Write model='humming",
    ),
    "a function as dynamics": (
        lambda: kw.Vehicle(dynamics=kw.vehicles.hummingbird),
        r"got the class hummingbird; .* Write dynamics=kw.vehicles.hummingbird\(\)",
    ),
    "a mapping as dynamics": (lambda: kw.Vehicle(dynamics={"mass_kg": 1}), "{'mass_kg': 1}; must"),
    "dynamics as model": (
        lambda: kw.Vehicle(model=kw.vehicles.os4()),
        r"`model`: got an os4; must be the name .* Write dynamics=kw.vehicles.os4\(\)",
    ),
    "a position as start": (
        lambda: kw.Vehicle(model="os4", start=[0, 0, 2]),
        r"`start`: got \[0, 0, 2\]; must be a kw.Start.* Write start={'position_world_m': \[0.0",
    ),
    "a vector as start": (
        lambda: kw.Vehicle(model="os4", start=kw.Vec3(0.0, 0.0, 2.0)),
        r"`start`: got a Vec3; .* Write start={'position_world_m': \[0.0, 0.0, 2.0\]}",
    ),
    "a short position": (
        lambda: scenario(
            vehicles={"h": kw.Vehicle(model="os4", start={"position_world_m": [0, 0]})}
        ),
        "must be a list of exactly 3 numbers",
    ),
    "a list of sensors": (lambda: vehicle(sensors=["imu"]), "must be a mapping of names, such as"),
    "a class as sensor": (
        lambda: with_parts(sensors={"imu": kw.sensors.Imu}),
        "got the class Imu; write an object of it",
    ),
    "a class as estimator": (
        lambda: with_parts(estimator=kw.estimation.Ekf),
        "got the class Ekf; write an object of it",
    ),
    "a class as controller": (lambda: with_parts(controllers=[Spring]), "got the class Spring"),
    "an object without update": (
        lambda: with_parts(controllers=[WithoutUpdate()]),
        r"WithoutUpdate has no update\(t_s, setpoint, estimate\)",
    ),
    "an array as guidance": (lambda: with_parts(guidance=np.zeros(3)), "write the kind of guid"),
    "an unnamed part of a vehicle": (
        lambda: kw.Vehicle("hummingbird"),
        r"Vehicle: got 'hummingbird' without a name; write Vehicle\(model='hummingbird'\)",
    ),
    "a class as wind": (
        lambda: with_world(wind=kw.environment.ShearWind),
        "got the class ShearWind; write an object of it",
    ),
    "one obstacle": (
        lambda: with_world(obstacles=SPHERE),
        r"`obstacles`: got a Sphere; .* Write obstacles=\[Sphere\(center_world_m=",
    ),
    "a vector as gravity": (lambda: with_world(gravity_mps2=[0, 0, -9.8]), "must be a number"),
    "an unnamed gain": (lambda: kw.control.Lee(3.0), r"Lee: got 3.0 without a name; write Lee\("),
}


@pytest.mark.parametrize("mistake", DEFINITIONS)
def test_wrong_definitions_are_explained(mistake):
    define, words = DEFINITIONS[mistake]
    with pytest.raises(kw.KittiwakeError, match=words):
        define()


SIMULATIONS = {
    "a name": ("hover-hummingbird", "Write kw.load\\('hover-hummingbird'\\)"),
    "nothing": (None, "`scenario`: got None; must be a kw.Scenario"),
    "a mapping": ({"vehicles": {}}, "must be a kw.Scenario"),
    "a class": (kw.Scenario, "got the class Scenario"),
    "a vehicle": (kw.Vehicle(model="os4"), "got a Vehicle"),
}


@pytest.mark.parametrize("mistake", SIMULATIONS)
def test_only_scenarios_are_simulated(mistake):
    given, words = SIMULATIONS[mistake]
    with pytest.raises(kw.KittiwakeError, match=words):
        kw.Simulation(given)


def test_a_simulation_needs_a_scenario():
    with pytest.raises(kw.KittiwakeError, match="the argument `scenario` is missing; it must be"):
        kw.Simulation()
    with pytest.raises(kw.KittiwakeError, match="Simulation has no parameter `dt`"):
        kw.Simulation(scenario(), dt=0.1)


CALLS = {
    "a text as duration": (lambda sim: sim.run("10"), "`duration_s`: got '10'; must be a number"),
    "two durations": (lambda sim: sim.run(np.ones(2)), r"`duration_s`: got an array of shape \(2"),
    "no finite duration": (
        lambda sim: sim.run(float("nan")),
        "nan s is not allowed; must be at least one step",
    ),
    "another name": (lambda sim: sim.run(duration=3), "Did you mean 'duration_s'"),
    "a number as folder": (lambda sim: sim.run(out=3), "`out`: got 3; must be the path"),
    "a flag as progress": (lambda sim: sim.run(progress=True), "a function. Write progress=print"),
    "a text as interval": (
        lambda sim: sim.run(out="x", checkpoint_every_s="1"),
        "`checkpoint_every_s`: got '1'; must be a number",
    ),
    "a text as seed": (lambda sim: sim.run(seed="a"), "seed: 'a' is not allowed"),
    "a seed of a reset": (lambda sim: sim.reset(sed=1), "Did you mean 'seed'"),
    "one command": (lambda sim: sim.step(kw.MotorsOff()), "give a mapping from vehicle to command"),
    "no command": (lambda sim: sim.step({"h": None}), "the command for 'h' is None; give one of"),
    "a class as command": (lambda sim: sim.step({"h": kw.PositionYaw}), "the class PositionYaw"),
    "an array as command": (lambda sim: sim.step({"h": np.ones(4)}), r"an array of shape \(4,\)"),
    "another vehicle": (lambda sim: sim.step({3: kw.MotorsOff()}), "there is no vehicle 3"),
    "no state": (lambda sim: sim.advance("a"), "`state`: got 'a'; must be a state, such as"),
    "a number as key": (lambda sim: sim.init(3), r"`key`: got 3; .* Write kw.seed_key\(3\)"),
    "steps in words": (
        lambda sim: sim.rollout(sim.init(kw.seed_key(0)), "10"),
        "`steps`: got '10'; must be a whole number",
    ),
    "a number as vehicle": (lambda sim: sim.set_state(3), "`vehicle`: got 3; must be the name"),
    "a height as position": (
        lambda sim: sim.set_state("h", position_world_m=3.0),
        "position_world_m: 3.0 is not allowed; must be a list of exactly 3 numbers",
    ),
    "a model to add": (lambda sim: sim.add_vehicle("b", "os4"), r"Write kw.Vehicle\(model='os4'\)"),
    "a number to remove": (lambda sim: sim.remove_vehicle(3), "`name`: got 3"),
    "a number as file": (lambda sim: sim.save(3), "`path`: got 3"),
    "no controller": (lambda sim: sim.set_gains("h", None), "`controller`: got None"),
    "a number to resume": (lambda _: kw.resume(3), "`folder`: got 3"),
    "no controllers": (lambda _: kw.compare("circle", None), "`controllers`: got None; must be"),
    "one object": (lambda _: kw.compare("circle", Spring()), "`controllers`: got a Spring"),
    "seeds in a list": (lambda _: kw.compare("circle", ["lee"], seeds=[1]), r"`seeds`: got \[1\]"),
    "noise": (lambda _: kw.compare("circle", ["lee"], noise=3), "`noise`: got 3; must be several"),
    "a simulation": (lambda sim: kw.compare(sim, ["lee"]), "`scenario`: .* Write sim.scenario"),
    "a file as second run": (
        lambda sim: sim.run().plot("runs/hover.png"),
        r"`other`: .* Write log.plot\(\).savefig\('runs/hover.png'\)",
    ),
    "one panel": (lambda sim: sim.run().plot(only="position"), "`only`: got 'position'; must be"),
    "a number as folder of a log": (lambda sim: sim.run().save(3), "`folder`: got 3"),
    "nothing to trim": (lambda _: kw.trim(), "trim: the argument `vehicle` is missing"),
    "no vehicle": (lambda _: kw.trim(None), "`vehicle`: got None; must be the name of a model"),
    "a world in words": (lambda _: kw.trim("os4", "calm"), "`world`: got 'calm'; must be a kw.W"),
    "a height": (lambda _: kw.trim("os4", position_world_m=3), "`position_world_m`: got 3; must"),
    "a heading in words": (lambda _: kw.trim("os4", yaw_rad="north"), "`yaw_rad`: got 'north'"),
    "a class to linearize": (lambda _: kw.linearize(kw.Scenario), "`point`: got the class Scen"),
    "a time in words": (lambda sim: kw.linearize(sim, at_s="end"), "`at_s`: got 'end'; must be"),
    "half a step": (lambda sim: kw.linearize(sim, steps=1.5), "`steps`: got 1.5; must be a whole"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", CALLS)
def test_wrong_calls_are_explained(mistake, simulation):
    call, words = CALLS[mistake]
    with pytest.raises(kw.KittiwakeError, match=words):
        call(simulation)
