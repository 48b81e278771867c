"""Words by which the start page finds scenarios."""

import pytest

from kittiwake.cockpit.search_words import scenario_contents, search_words


def found(*texts):
    return set(search_words(*texts).split())


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("motor-failure", {"motor", "broken", "drone"}),
        ("marker-landing", {"marker", "ar-drone", "boat", "drone", "wind", "turbulence"}),
        ("gps-errors", {"gps", "gnss", "satellite"}),
        ("survey-lake", {"lake", "chlorophyll", "probe", "boat"}),
        ("search-rescue", {"camera"}),
    ],
)
def test_the_contents_of_a_scenario_are_searched(scenario, words):
    assert words <= found(scenario_contents(scenario))


def test_a_scenario_is_not_found_by_what_it_lacks():
    assert not {"boat", "broken", "camera", "crash"} & found(scenario_contents("hover-crazyflie"))


def test_synonyms_are_added_to_forms_of_a_word():
    assert {"failing", "fault", "broken"} <= found("Failing")
    assert "lake" not in found("a search and two seats")


def test_markup_and_files_outside_the_library_are_left_out():
    assert found('"><script>', "ünder_way.") == {"script", "ünder", "way"}
    assert scenario_contents("../x") == scenario_contents("") == ""
