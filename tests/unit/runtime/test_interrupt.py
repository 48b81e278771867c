"""Ctrl-C as a request."""

import os
import signal
import threading
import time
import weakref

import pytest
from tests.interrupts import heard

from kittiwake.runtime.interrupt import Interrupted, interrupts, stop_requests

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
    with heard(), stop_requests() as stopped:
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


def test_a_second_signal_waits_for_the_end_of_held():
    written = []

    def write(stopped):
        with stopped.held():
            os.kill(os.getpid(), signal.SIGTERM)
            written.append("all of it")

    with stop_requests() as stopped:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Interrupted):
            write(stopped)
        assert stopped.insisted
    assert written == ["all of it"]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_of_a_command_is_an_exception_that_is_known_afterwards(number):
    before = handlers()
    with interrupts() as handler:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert handler.received == [number]
    assert handlers() == before


def test_a_signal_in_a_callback_that_cannot_raise_is_raised_behind_it(capsys):
    class Collected:
        pass

    def collect():
        one = Collected()
        reference = weakref.ref(one, lambda _: os.kill(os.getpid(), signal.SIGINT))
        del one
        time.sleep(20.0)
        return reference

    with interrupts() as handler:
        with pytest.raises(KeyboardInterrupt):
            collect()
        assert handler.received == [signal.SIGINT]
    assert capsys.readouterr().err == ""


def test_a_flight_that_begins_after_a_signal_has_a_stop_request():
    with interrupts() as handler:
        handler.received.append(signal.SIGINT)
        with stop_requests() as stopped:
            assert stopped()
