"""Fixtures of tests that run commands in their own process."""

import pytest

import kittiwake.cli.run


@pytest.fixture(scope="module")
def compiled_programs_stay_with_the_tests():
    """Keep the compiled programs of tests out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kittiwake.cli.run, "keep_compiled", lambda: None)
        yield
