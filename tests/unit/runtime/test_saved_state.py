"""Saved states continue bit for bit in another process; other files are refused in one line."""

import io
import json
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import KittiwakeError, LogError, StateError
from kittiwake.runtime.saved_state import read_state

# what a refusal may take, on a busy machine
MEGABYTES = 40.0

# Flies on from a saved state; the first process also flies to it, and on without interruption.
CONTINUE = """
import sys
from pathlib import Path
import numpy as np
import kittiwake as kw

name, before, steps, folder, process = sys.argv[1:]
folder, sim = Path(folder), kw.load(name)

def fly_on(file):
    for _ in range(int(steps)):
        sim.step()
    sim.save(folder / file)

if process == "first":
    sim.reset()
    for _ in range(int(before)):
        sim.step()
    sim.save(folder / "middle")
    fly_on("uninterrupted")
assert list(sim.restore(folder / "middle")) == list(sim.names)
fly_on(process)
log = sim.log()
np.savez(folder / f"{process}-rows.npz", *[log.values(vehicle) for vehicle in log.names])
"""


@pytest.fixture(scope="module")
def hover():
    simulation = kw.load("hover-pelican")
    simulation.reset(seed=7)
    for _ in range(3):
        simulation.step()
    return simulation


@pytest.fixture
def saved(hover, tmp_path):
    hover.save(tmp_path / "there.state")
    return tmp_path / "there.state"


def arrays(path):
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


def rewritten(path, *, compression=zipfile.ZIP_STORED, header=None, **changes):
    """The path of another file, with other members; None removes one."""
    other = path.with_name("other.npz")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", compression) as new:
        members = {name: old.read(name) for name in old.namelist()}
        if header is not None:
            text = json.loads(np.load(io.BytesIO(members["header.npy"])).tobytes())
            members["header.npy"] = npy(np.frombuffer(json.dumps(header(text)).encode(), np.uint8))
        for name, content in {**members, **changes}.items():
            if content is not None:
                new.writestr(name, content)
    return other


def npy(array, **how):
    content = io.BytesIO()
    np.save(content, array, **how)
    return content.getvalue()


def refusal(simulation, path):
    """The message with which a file is refused, in little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(StateError) as refused:
            simulation.restore(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEGABYTES * 1e6
    message = str(refused.value)
    assert "\n" not in message
    assert str(path) in message
    return message


# contents


@pytest.mark.slow
def test_a_state_is_a_numpy_archive_with_a_header(hover, saved):
    found = arrays(saved)
    header = json.loads(found.pop("header").tobytes())
    assert header["format"] == 1
    assert header["kind"] == "state"
    assert (header["seed"], header["tick"], header["vehicles"]) == (7, 3, ["pelican"])
    assert all(name.startswith("state.") for name in found)
    assert int(found["state.tick"]) == 3


@pytest.mark.slow
def test_a_restored_flight_is_at_its_time(hover, saved):
    for _ in range(5):
        hover.step()
    seen = hover.restore(saved)
    assert hover.time_s == seen["pelican"].time_s == pytest.approx(3 * hover.dt_s)
    hover.step()
    times = hover.log().column("pelican", "time_s")
    np.testing.assert_allclose(times, [0.06, 0.08])


@pytest.mark.slow
def test_what_a_restored_flight_has_done_before_is_no_event_again(tmp_path):
    tour = {"type": "waypoints", "positions_world_m": [[0, 0, 10], [0, 0, 10], [9, 0, 10]]}
    simulation = kw.load("hover-pelican", overrides={"vehicles.pelican.guidance": tour})
    simulation.reset()
    for _ in range(10):
        simulation.step()
    assert [event.event for event in simulation.log().events][:2] == [
        "reached waypoint 1",
        "reached waypoint 2",
    ]
    simulation.save(tmp_path / "there.state")
    simulation.restore(tmp_path / "there.state")
    simulation.step()
    assert [event.event for event in simulation.log().events] == ["not finished"]


def test_a_state_is_restored_before_any_reset(hover, saved):
    other = kw.load("hover-pelican")
    assert other.restore(saved)["pelican"].truth == hover.restore(saved)["pelican"].truth


def test_a_file_that_cannot_be_written_is_named(hover, tmp_path):
    with pytest.raises(LogError, match="nowhere"):
        hover.save(tmp_path / "nowhere" / "there.state")
    with pytest.raises(LogError, match="is a folder"):
        hover.save(tmp_path)


# refusals


def test_other_files_are_refused(hover, saved, tmp_path):
    other = tmp_path / "other"
    assert "does not exist" in refusal(hover, other)
    assert "is no regular file" in refusal(hover, tmp_path)
    # one without an end
    assert "is no regular file" in refusal(hover, Path("/dev/zero"))
    for content in (b"", b"PK\x05\x06" + bytes(18), b"name: windy\n", bytes(10**6)):
        other.write_bytes(content)
        assert "is no file of a state, or is damaged" in refusal(hover, other)
    np.savez(other.with_suffix(".npz"), x=np.zeros(3))
    assert "is no file of a state" in refusal(hover, other.with_suffix(".npz"))


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(hover, saved, part):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(part * len(content))])
    assert "is damaged" in refusal(hover, saved)


@pytest.mark.slow
def test_damage_anywhere_is_refused_or_without_effect(hover, saved):
    content = saved.read_bytes()
    whole = read_state(saved, hover._stepper._program.shape)[1]
    random = np.random.default_rng(0)
    for place in [*range(80), *random.integers(0, len(content), 600), *range(-120, 0)]:
        damaged = bytearray(content)
        damaged[place] ^= int(random.integers(1, 256))
        saved.write_bytes(damaged)
        message = ""
        try:
            _, header = read_state(saved, hover._stepper._program.shape)
        except StateError as error:
            header, message = whole, str(error)
        assert header == whole
        assert "\n" not in message


@pytest.mark.slow
def test_a_compressed_archive_is_refused_before_it_is_unpacked(hover, saved):
    assert "holds" in refusal(hover, rewritten(saved, compression=zipfile.ZIP_DEFLATED))
    # a gigabyte of zeros in a megabyte
    bomb = saved.with_name("bomb.npz")
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(1024):
            member.write(bytes(2**20))
    assert bomb.stat().st_size < 2e6
    assert "bytes" in refusal(hover, bomb)


def test_an_array_that_claims_to_be_large_is_refused(hover, saved):
    # a header of NumPy's own that states a terabyte
    text = b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % 2**37
    text += b" " * (117 - len(text)) + b"\n"
    claim = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
    assert refusal(hover, rewritten(saved, **{"state.tick.npy": claim}))


def test_pickled_objects_are_refused_and_never_loaded(hover, saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    array = np.empty((), dtype=object)
    array[()] = Trap()
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        content, {"descr": "|O", "fortran_order": False, "shape": ()}
    )
    content.write(pickle.dumps(Trap()))
    for member in ("state.tick.npy", "header.npy"):
        assert refusal(hover, rewritten(saved, **{member: content.getvalue()}))
    nested = npy(np.zeros((), dtype=[("x", "O")]), allow_pickle=True)
    assert refusal(hover, rewritten(saved, **{"state.tick.npy": nested}))
    saved.write_bytes(pickle.dumps(Trap()))
    assert refusal(hover, saved)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "message"),
    [
        (lambda h: h | {"format": 2}, "is of format 2; this version of Kittiwake reads format 1"),
        (lambda h: {k: v for k, v in h.items() if k != "format"}, "is of format None"),
        (lambda h: h | {"kind": "checkpoint"}, "is a checkpoint of a run, which kw.resume"),
        (lambda h: h | {"vehicles": ["gull", "tern"]}, "of other vehicles: gull, tern"),
        (lambda h: h | {"vehicles": 3}, "is damaged"),
        (lambda h: h | {"format": True}, "is of format True"),
        (lambda h: h | {"rate_hz": 100}, "a state at 100 Hz; this simulation steps at 50 Hz"),
        (lambda h: h | {"seed": "x"}, "is damaged"),
        (lambda h: h | {"tick": -5}, "is damaged"),
        (lambda h: h | {"tick": 1e30}, "is damaged"),
        (lambda h: h | {"components": []}, "is damaged"),
        (lambda h: h | {"tick": None}, "is damaged"),
        (lambda h: {"format": 1, "kind": "state"}, "is damaged"),
        (lambda h: [1], "is no file of a state"),
        (lambda h: "text", "is no file of a state"),
        (lambda h: h | {"components": {"array": "nowhere"}}, "is damaged"),
        (
            lambda h: h | {"components": [{"array": "state.tick"}] * 10**5},
            "refers to state.tick tw",
        ),
    ],
)
def test_another_header_is_refused(hover, saved, header, message):
    assert message in refusal(hover, rewritten(saved, header=header))


def test_a_header_of_deep_lists_is_refused(hover, saved):
    deep = npy(np.frombuffer(b"[" * 10**5, np.uint8))
    assert refusal(hover, rewritten(saved, **{"header.npy": deep}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "it lacks tick"),
        (npy(np.zeros(4, np.int64)), "tick has the shape (4,)"),
        (npy(np.float64(3)), "and type float64"),
        (b"", "is damaged"),
        (npy(np.int64(3))[:-1], "is damaged"),
    ],
)
def test_a_leaf_of_another_form_is_refused(hover, saved, content, message):
    assert message in refusal(hover, rewritten(saved, **{"state.tick.npy": content}))


def test_an_additional_leaf_is_refused(hover, saved):
    extra = {"state.groups[1].npy": npy(np.zeros(3))}
    assert "it has groups[1]" in refusal(hover, rewritten(saved, **extra))


@pytest.mark.slow
def test_the_state_of_another_scenario_is_refused(hover, saved):
    for other in ("keep-spot", "hover-hummingbird"):
        simulation = kw.load(other)
        simulation.reset()
        assert "holds the state of another scenario" in refusal(simulation, saved)
    single = kw.load("hover-pelican", precision="float32")
    single.reset()
    assert "type float64" in refusal(single, saved)


def test_a_refused_file_leaves_the_flight_as_it_was(hover, saved):
    hover.restore(saved)
    before = hover.observe()["pelican"]
    refusal(hover, rewritten(saved, header=lambda h: h | {"tick": None}))
    assert hover.observe()["pelican"].truth == before.truth
    assert hover.time_s == before.time_s


# components in plain Python


class Counting:
    rate_hz = 50

    def reset(self, vehicle):
        self.count, self.words = 0, ["a", {"b": None}]
        self.sums = np.zeros((2, 3), np.float32)

    def update(self, t_s, setpoint, estimate):
        self.count += 1
        self.sums = self.sums + self.count
        return kw.AccelerationYaw([0.0, 0.0, 0.01 * self.sums[0, 0] - 0.5], 0.0)

    def state(self):
        return {"count": self.count, "sums": self.sums, "words": self.words}

    def restore(self, state):
        assert state["words"] == ["a", {"b": None}]
        assert state["sums"].dtype == np.float32
        self.count, self.sums, self.words = state["count"], state["sums"], state["words"]


def with_controller(controller):
    vehicle = kw.Vehicle(
        model="hummingbird", start={"position_world_m": [0, 0, 5]}, controllers=[controller]
    )
    return kw.Simulation(kw.Scenario(vehicles={"h": vehicle}, rate_hz=100, duration_s=2))


@pytest.mark.slow
def test_a_controller_in_plain_python_continues_from_its_state(tmp_path):
    one, other = with_controller(Counting()), with_controller(Counting())
    one.reset()
    for _ in range(11):
        one.step()
    one.save(tmp_path / "middle")
    other.restore(tmp_path / "middle")
    for simulation in (one, other):
        for _ in range(10):
            simulation.step()
    one.save(tmp_path / "one")
    other.save(tmp_path / "other")
    first, second = arrays(tmp_path / "one"), arrays(tmp_path / "other")
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kept",
    [
        {1, 2},
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (object(), np.array([object()]), {1: 2})
        ),
    ],
)
def test_what_a_file_cannot_hold_is_named(tmp_path, kept):
    class Odd(Counting):
        def state(self):
            return {"kept": kept}

    simulation = with_controller(Odd())
    simulation.reset()
    simulation.step()
    with pytest.raises(StateError, match="a file cannot hold") as refused:
        simulation.save(tmp_path / "there")
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_controller_without_a_state_is_not_saved(tmp_path):
    class Forgetful(Counting):
        state = None

    simulation = with_controller(Forgetful())
    simulation.reset()
    with pytest.raises(KittiwakeError, match=r"Forgetful of 'h' has no method state\(self\)"):
        simulation.save(tmp_path / "there")
    assert list(tmp_path.iterdir()) == []


# another process


@pytest.mark.bits
@pytest.mark.parametrize(
    ("name", "before", "steps"),
    [
        ("mission", 400, 200),
        pytest.param("survey-recharge", 4000, 300, marks=pytest.mark.slow),
        pytest.param("flock-8-wind", 300, 100, marks=pytest.mark.slow),
        pytest.param("complacs", 100, 50, marks=pytest.mark.slow),
    ],
)
def test_another_process_continues_bit_for_bit(tmp_path, name, before, steps):
    for process in ("first", "second"):
        given = [name, before, steps, tmp_path, process]
        answer = subprocess.run(
            [sys.executable, "-c", CONTINUE, *map(str, given)],
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )
        assert answer.returncode == 0, answer.stderr
    expected = arrays(tmp_path / "uninterrupted")
    for process in ("first", "second"):
        found = arrays(tmp_path / process)
        assert found.keys() == expected.keys()
        for key, values in expected.items():
            assert values.tobytes() == found[key].tobytes(), (process, key)
    rows = [arrays(tmp_path / f"{process}-rows.npz") for process in ("first", "second")]
    assert rows[0].keys() == rows[1].keys()
    for vehicle, values in rows[0].items():
        assert values.tobytes() == rows[1][vehicle].tobytes(), vehicle
