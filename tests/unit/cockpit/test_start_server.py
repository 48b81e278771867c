"""The start page: what it offers, what it accepts, and that nothing else is reached."""

import json
from http.client import HTTPConnection
from urllib.parse import quote, urlencode

import pytest

from kittiwake.cockpit.auth_proxy import LOOPBACK, AuthProxy
from kittiwake.cockpit.site import CockpitSite
from kittiwake.cockpit.start_choices import RunChoice, ScenarioChoice, recent_files, remember_file
from kittiwake.cockpit.start_page import PICTURES
from kittiwake.cockpit.start_server import MAX_SCENARIO_BYTES, StartServer
from kittiwake.scenario.library import groups, names

pytest.importorskip("viser")

TOKEN = "a secret of the start page"
WAIT_S = 20.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def site(folder):
    del folder
    proxies = []

    def open_proxy():
        proxies.append(AuthProxy(LOOPBACK, 0, 1))
        return proxies[0].__enter__()

    with CockpitSite(open_proxy, has_start_page=True) as found:
        found.proxy = proxies[0]
        yield found
    proxies[0].__exit__(None, None, None)


def fetch(port, method="GET", target="/", body=None, **fields):
    connection = HTTPConnection(LOOPBACK, port, timeout=WAIT_S)
    try:
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


def post(site, target, body="", **fields):
    origin = {"Origin": f"http://{LOOPBACK}:{site.proxy.port}"} | fields
    return fetch(site.proxy.port, "POST", target, body, **origin)


def run_in(folder, name, summary):
    run = folder / "runs" / name
    run.mkdir(parents=True)
    (run / "log.mcap").write_bytes(b"log")
    (run / "summary.json").write_text(summary)


def test_each_library_scenario_has_a_group_and_a_picture():
    grouped = [name for title, part in groups().items() if title != "Start here" for name in part]
    assert sorted(grouped) == names()
    assert set(groups()["Start here"]) <= set(names())
    pictures = {path.stem: path.stat().st_size for path in PICTURES.iterdir()}
    assert set(pictures) == set(names())
    assert sum(pictures.values()) < 1_000_000


def test_the_page_offers_the_library_runs_and_recent_files(site, folder):
    run_in(folder, "hover-1", json.dumps({"status": "failed", "reason": "<b>lost</b>"}))
    run_in(folder, "broken", "[" * 10_000)
    (folder / "my own.yaml").write_text("name: own")
    remember_file("my own.yaml")
    status, page, fields = fetch(site.proxy.port)
    assert status == 200
    assert page.count('action="/start/fly"') == sum(map(len, groups().values()))
    assert "failed: &lt;b&gt;lost&lt;/b&gt;" in page
    assert 'value="broken"' in page
    assert "my own.yaml" in page
    assert page.count('href="#runs"') == page.count("id='runs'") == 1
    assert "unsafe" not in fields["Content-Security-Policy"]
    assert "<script>" not in page
    assert "style=" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_the_library_is_not_pushed_down_by_many_recent_files(folder):
    for number in range(9):
        (folder / f"own-{number}.yaml").write_text("name: own")
        remember_file(f"own-{number}.yaml")
    assert [path.stem for path in recent_files().values()] == [f"own-{n}" for n in (8, 7, 6, 5, 4)]


def test_requests_choose_what_is_offered(site, folder):
    run_in(folder, "hover-1", "{}")
    (folder / "own.yaml").write_text("name: own")
    remember_file("own.yaml")
    (key,) = recent_files()
    for target, field, choice in (
        ("fly", {"scenario": "hover"}, ScenarioChoice("hover")),
        ("replay", {"run": "hover-1"}, RunChoice(folder / "runs/hover-1")),
        ("recent", {"file": key}, ScenarioChoice(str(folder / "own.yaml"))),
    ):
        status, _, fields = post(site, f"/start/{target}", urlencode(field))
        assert (status, fields["Location"]) == (303, "/")
        chosen = site.next_choice()
        assert chosen.title == choice.title
        assert type(chosen) is type(choice)
        assert "..." in fetch(site.proxy.port)[1]
    assert post(site, "/start/end")[0] == 303
    assert site.next_choice() is None
    assert "Search" in fetch(site.proxy.port)[1]


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ("fly", {"scenario": "../../secret"}),
        ("fly", {"scenario": "secret.yaml"}),
        ("replay", {"run": ".."}),
        ("replay", {"run": "../secret"}),
        ("replay", {"run": "/etc"}),
        ("recent", {"file": "secret.yaml"}),
        ("recent", {}),
    ],
)
def test_no_other_path_can_be_chosen(site, folder, target, field):
    run_in(folder, "hover-1", "{}")
    run_in(folder / "runs", "../secret", "{}")
    (folder / "secret.yaml").write_text("name: secret")
    assert post(site, f"/start/{target}", urlencode(field))[0] == 404
    assert not site._chosen.is_set()


@pytest.mark.parametrize(
    "path", ["../start_page.py", "pictures/../../auth.py", "pictures/hover", "%2e%2e/auth.py", "x"]
)
def test_no_other_file_is_served(site, path):
    assert fetch(site.proxy.port, target=f"/start/{path}")[0] == 404


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"http://{LOOPBACK}:1"])
def test_pages_of_other_sites_choose_nothing(site, origin):
    assert post(site, "/start/fly", "scenario=hover", Origin=origin)[0] == 403
    assert post(site, "/start/end", Origin=origin)[0] == 403
    assert post(site, "/start/upload", "name: x", Origin=origin)[0] == 403
    assert not site._chosen.is_set()


def test_a_link_of_another_site_chooses_nothing(site):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Dest": "document"}
    assert fetch(site.proxy.port, target="/start/end", **link)[0] == 404
    assert fetch(site.proxy.port, target="/start/fly?scenario=hover", **link)[0] == 404
    assert not site._chosen.is_set()


def test_the_inner_port_serves_its_proxy_only(site):
    with StartServer(site) as server:
        assert fetch(server.backend.port)[0] == 403
        assert fetch(server.backend.port, "POST", "/start/end", "")[0] == 403
    assert not site._chosen.is_set()


def test_a_token_is_required_for_each_choice(folder):
    del folder
    with (
        AuthProxy(LOOPBACK, 0, 1, TOKEN) as proxy,
        CockpitSite(lambda: proxy, has_start_page=True) as site,
    ):
        site.proxy = proxy
        assert post(site, "/start/fly", "scenario=hover")[0] == 403
        cookie = fetch(proxy.port, target=f"/?token={quote(TOKEN)}")[2]["Set-Cookie"]
        status = post(site, "/start/fly", "scenario=hover", Cookie=cookie.partition(";")[0])[0]
        assert status == 303


def test_an_uploaded_scenario_is_kept_in_a_folder_of_its_own(site, folder):
    (folder / "own.yaml").write_text("name: mine")
    name = quote("../../../own.yaml")
    assert post(site, "/start/upload", "name: uploaded", X_File_Name=name)[0] == 200
    choice = site.next_choice()
    assert choice.title == "own"
    assert not choice.scenario.startswith(str(folder / "own"))
    assert (folder / "own.yaml").read_text() == "name: mine"
    site.refuse(f"{choice.scenario}:3: wrong <key>")
    assert ">own.yaml:3: wrong &lt;key&gt;<" in fetch(site.proxy.port)[1]


def test_uploads_are_limited(site):
    head = {"X_File_Name": "big.yaml"}
    assert post(site, "/start/upload", b"\xff\xfe", **head)[0] == 422
    length = {"Content_Length": str(MAX_SCENARIO_BYTES + 1)}
    status, text, _ = post(site, "/start/upload", **head, **length)
    assert status == 413
    assert str(MAX_SCENARIO_BYTES) in text
    assert post(site, "/start/upload", **head, Content_Length="-1")[0] == 411
    assert not site._chosen.is_set()
