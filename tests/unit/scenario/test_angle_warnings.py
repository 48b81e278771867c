import pytest

from kittiwake.scenario.angle_warnings import angle_warnings


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"guidance": {"yaw_rad": 90}}, ["guidance.yaw_rad: 90 rad are 14.3 turns; write yaw_deg"]),
        ({"stages": [{}, {"yaws_rad": [0.0, -45.0]}]}, ["stages.1.yaws_rad: 45 rad are 7.2 turns"]),
        ({"guidance": {"yaw_rad": 6.3, "yaw_deg": 90, "yaw_rate_radps": 90.0}}, []),
        ({"max_tilt_rad": True, "name_rad": "90", "none_rad": None}, []),
    ],
)
def test_angles_of_several_turns_are_likely_degrees(data, said):
    found = [*angle_warnings(data)]
    assert len(found) == len(said)
    for text, begin in zip(found, said, strict=True):
        assert text.startswith(begin)
        assert text.endswith(" for degrees")
