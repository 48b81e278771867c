"""Replay of a log for Python programs and notebooks."""

import subprocess
import sys
from http.client import HTTPConnection
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from IPython.core.formatters import DisplayFormatter

import kittiwake as kw
from kittiwake.analysis.log import Log
from kittiwake.cockpit import log_view
from kittiwake.cockpit.desktop import in_notebook
from kittiwake.cockpit.recorded import playback_of
from kittiwake.core import extras
from kittiwake.core.errors import CockpitError, LogError, MissingExtraError

WAIT_S = 20.0
IN_A_FRAME = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}


@pytest.fixture(scope="module")
def simulation():
    return kw.load("hover-angle-velocity", {"time.duration_s": 0.2})


@pytest.fixture(scope="module")
def log(simulation):
    """A log that is in memory alone."""
    return simulation.run()


@pytest.fixture(scope="module")
def view(log):
    found = log.view()
    yield found
    found.close()


@pytest.fixture(autouse=True)
def opened(monkeypatch):
    """Addresses that the browser of a desktop opens."""
    found = []
    monkeypatch.setattr(log_view.webbrowser, "open", found.append)
    return found


def fetch(url, **fields):
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname, address.port, timeout=WAIT_S)
    try:
        connection.request("GET", "/", headers=fields)
        answer = connection.getresponse()
        answer.read()
        return answer.status, dict(
            part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; ")
        )
    finally:
        connection.close()


def test_a_log_in_memory_is_served_on_this_machine(view):
    assert urlsplit(view.url).hostname == "127.0.0.1"
    assert fetch(view.url)[0] == 200


def test_a_notebook_embeds_the_page(view):
    html = DisplayFormatter().format(view)[0]["text/html"]
    assert f'<iframe src="{view.url}"' in html


def test_only_pages_of_this_machine_may_show_the_page_in_a_frame(view):
    status, policy = fetch(view.url, **IN_A_FRAME)
    assert status == 200
    ancestors = policy["frame-ancestors"].split()
    assert "http://localhost:*" in ancestors
    assert not [one for one in ancestors if "*" in one.removesuffix(":*")]


def test_other_sites_reach_nothing(view):
    assert fetch(view.url, **IN_A_FRAME | {"Sec-Fetch-Dest": "empty"})[0] == 403
    assert fetch(view.url, Origin="http://gulls.example")[0] == 403
    assert fetch(view.url, Host="gulls.example")[0] == 403


def test_a_closed_page_is_gone(log):
    view = log.view()
    view.close()
    view.close()
    with pytest.raises(ConnectionRefusedError):
        fetch(view.url)


def test_a_port_in_use_is_refused_in_the_words_of_python(log, view):
    with pytest.raises(CockpitError, match=f"`port`: {urlsplit(view.url).port} of 127.0.0.1"):
        log.view(port=urlsplit(view.url).port)


@pytest.mark.parametrize(("desktop", "notebook", "opens"), [(1, 0, 1), (1, 1, 0), (0, 0, 0)])
def test_the_browser_opens_only_where_no_notebook_shows_the_page(
    desktop, notebook, opens, log, opened, monkeypatch
):
    monkeypatch.setattr(log_view, "has_desktop", lambda: bool(desktop))
    monkeypatch.setattr(log_view, "in_notebook", lambda: bool(notebook))
    view = log.view()
    view.close()
    assert opened == [view.url] * opens


def test_a_kernel_is_a_notebook_and_a_terminal_is_not(monkeypatch):
    for shell, found in (
        (None, False),
        (SimpleNamespace(), False),
        (SimpleNamespace(kernel=1), True),
    ):
        monkeypatch.setitem(
            sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell)
        )
        assert in_notebook() == found


@pytest.mark.slow
def test_a_log_of_a_folder_is_shown_by_its_scenario(log, simulation, tmp_path):
    log.save(tmp_path / "run")
    (tmp_path / "shown").mkdir()
    playback = playback_of(Log.read(tmp_path / "run"), tmp_path / "shown")
    assert playback.flight.scenario.name == simulation.scenario.name


@pytest.mark.slow
def test_a_scenario_that_reads_files_is_shown(tmp_path):
    log = kw.load("pelican-playback", {"time.duration_s": 0.1}).run()
    assert log.portable.files
    playback = playback_of(log, tmp_path)
    assert playback.span_s == pytest.approx((0.0, 0.1))


def test_a_log_without_a_scenario_is_refused(log):
    with pytest.raises(LogError, match="has no scenario"):
        Log(log.tables).view()


def test_without_the_extra_the_error_names_it(log, monkeypatch):
    monkeypatch.setattr(extras, "COCKPIT_MODULES", ("viserr",))
    with pytest.raises(MissingExtraError, match=r"kittiwake\[cockpit\]"):
        log.view()


@pytest.mark.slow
def test_a_program_ends_with_its_page_open(tmp_path):
    script = (
        "import kittiwake as kw\n"
        "log = kw.load('hover-angle-velocity', {'time.duration_s': 0.1}).run()\n"
        "print(log.view().url)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    with pytest.raises(ConnectionRefusedError):
        fetch(answer.stdout.strip())
