"""Ctrl-C as a request."""

import os
import signal
import threading

import pytest
from tests import interrupts

from kittiwake.runtime.interrupt import stop_requests

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


def test_nothing_is_requested_at_first():
    with stop_requests() as stopped:
        assert not stopped()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_first_signal_is_only_a_request(number):
    with stop_requests() as stopped:
        os.kill(os.getpid(), number)
        assert stopped()


def test_a_second_signal_ends_the_process_as_usual():
    with interrupts.heard(), stop_requests() as stopped:
        os.kill(os.getpid(), signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_handlers_are_as_before_afterwards():
    before = handlers()
    with stop_requests():
        assert handlers() != before
    assert handlers() == before


def test_handlers_are_as_before_after_an_error():
    before = handlers()
    with pytest.raises(ZeroDivisionError), stop_requests():
        raise ZeroDivisionError
    assert handlers() == before


def test_other_threads_run_without_catching_signals():
    before = handlers()
    seen = []

    def fly():
        with stop_requests() as stopped:
            seen.append((stopped(), handlers()))

    thread = threading.Thread(target=fly)
    thread.start()
    thread.join()
    assert seen == [(False, before)]
