import ast
from pathlib import Path

import kittiwake
from kittiwake.core.streams import Stream, draw_stream
from kittiwake.sim.team_radio import RADIO
from kittiwake.world.field import FIELD
from kittiwake.world.plume import PLUME
from kittiwake.world.satellites import SKY
from kittiwake.world.terrain import TERRAIN
from kittiwake.world.waves import WAVES

SOURCE = Path(kittiwake.__file__).parent


def test_stream_names_never_change():
    """With another name, each seed would give another flight."""
    assert {stream.name: stream.value for stream in Stream} == {
        "DYNAMICS": "dynamics",
        "TURBULENCE": "turbulence",
        "SENSOR": "sensor",
        "SENSOR_ERROR": "error",
        "ESTIMATOR": "estimator",
        "GUIDANCE": "guidance",
        "CONTROLLER": "controller",
        "AVOIDANCE": "avoidance",
        "WORLD": "world",
        "INIT": "init",
        "STEP": "step",
        "TASK": "commander",
        "RANDOMIZE": "randomise",
        "VARIANT": "variant",
        "STARTS": "starts",
        "FLEET": "fleet",
        "GOAL": "goal",
    }
    assert (SKY, TERRAIN, WAVES, RADIO) == ("satellites", "terrain", "waves", "radio")
    assert (PLUME, FIELD) == ("plumes.", "fields.")


def test_streams_of_a_kind_differ_by_their_suffix():
    assert Stream.SENSOR.of("gnss") == "sensor.gnss"
    assert Stream.CONTROLLER.of(1) == "controller.1"


def test_draws_are_named_by_the_path_of_the_number():
    assert draw_stream("vehicles.a.start.yaw_deg", None) == "vehicles.a.start.yaw_deg.None"
    renamed = draw_stream("world.obstacles.first.center_world_m", 2)
    assert renamed == "world.obstacles.first.centre_world_m.2"


def test_no_stream_name_is_a_literal():
    named = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in SOURCE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in {"fold_in_name", "fold_in_names"}
        and any(
            isinstance(part, ast.Constant) and isinstance(part.value, str)
            for part in ast.walk(call.args[1])
        )
        and "Stream" not in ast.dump(call.args[1])
    ]
    assert named == []
