"""The gate with viser itself behind it: the page, its WebSocket, and who gets neither."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from kittiwake.viewer.gate import LOOPBACK, Gate
from kittiwake.viewer.server import PageServer

viser = pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

TOKEN = "a secret of the cockpit"
WAIT_S = 20.0


@pytest.fixture(scope="module")
def server():
    found = PageServer()
    yield found
    found.stop()


def fetched(gate, target="/", **fields):
    connection = HTTPConnection(LOOPBACK, gate.port, timeout=WAIT_S)
    try:
        connection.request("GET", target, headers=fields)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def session(gate, **fields):
    """A browser's WebSocket to the cockpit; its first message is the scene."""
    return client.connect(
        f"ws://{LOOPBACK}:{gate.port}/",
        subprotocols=[f"viser-v{viser.__version__}"],
        additional_headers=fields,
        open_timeout=WAIT_S,
        max_size=None,
        proxy=None,
    )


def test_the_page_arrives_whole(server):
    with Gate(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        status, page, fields = fetched(gate)
        assert (status, len(page)) == (200, int(fields["Content-Length"]))
        assert len(page) > 100_000
        assert b"<title>" in page


def test_a_websocket_gets_the_scene_and_what_is_added_to_it(server):
    with Gate(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        origin = f"http://{LOOPBACK}:{gate.port}"
        with session(gate, Origin=origin) as socket:
            assert socket.subprotocol == f"viser-v{viser.__version__}"
            assert len(socket.recv(WAIT_S)) > 16
            server.scene.add_label("/gull", "a gull")
            assert len(socket.recv(WAIT_S)) > 16


def test_a_websocket_of_another_page_is_refused(server):
    with (
        Gate(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate,
        pytest.raises(exceptions.InvalidStatus, match="403"),
        session(gate, Origin="http://gulls.example"),
    ):
        pass


def test_with_a_token_page_and_websocket_come_by_the_cookie(server):
    with Gate(LOOPBACK, 0, server.get_port(), TOKEN, server.secret) as gate:
        with pytest.raises(exceptions.InvalidStatus, match="403"), session(gate):
            pass
        assert fetched(gate)[0] == 403
        status, _, fields = fetched(gate, f"/?{urlsplit(gate.address).query}")
        assert status == 303
        cookie = fields["Set-Cookie"].partition(";")[0]
        assert fetched(gate, Cookie=cookie)[0] == 200
        with session(gate, Cookie=cookie) as socket:
            assert len(socket.recv(WAIT_S)) > 16


def test_a_gate_that_closes_ends_its_websockets(server):
    with Gate(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        socket = session(gate)
        socket.recv(WAIT_S)
    # what had arrived before is still read; iterating ends in silence only at a close that was said
    with socket, pytest.raises(exceptions.ConnectionClosedError):
        list(socket)


def test_who_finds_the_port_behind_the_gate_is_refused(server):
    connection = HTTPConnection(LOOPBACK, server.get_port(), timeout=WAIT_S)
    try:
        connection.request("GET", "/")
        assert connection.getresponse().status == 403
    finally:
        connection.close()
    with pytest.raises(exceptions.InvalidStatus, match="403"):
        client.connect(f"ws://{LOOPBACK}:{server.get_port()}/", proxy=None)


def test_no_page_can_ask_for_a_tunnel(server):
    assert server.request_share_url() is None
