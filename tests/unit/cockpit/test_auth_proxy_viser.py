"""The gate with viser itself behind it: the page, its WebSocket, and who gets neither."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from kittiwake.cockpit.auth_proxy import LOOPBACK, AuthProxy
from kittiwake.cockpit.server import MOST_MESSAGE_BYTES, PageServer

viser = pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

msgpack = pytest.importorskip("msgspec").msgpack.encode

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


def say(socket, message):
    """Sends a message, and reads until the connection ends."""
    socket.send(message)
    while True:
        socket.recv(WAIT_S)


def test_the_page_arrives_whole(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        status, page, fields = fetched(gate)
        assert (status, len(page)) == (200, int(fields["Content-Length"]))
        assert len(page) > 100_000
        assert b"<title>" in page


def test_the_page_says_what_it_may_do_and_that_nobody_may_frame_it(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        fields = fetched(gate)[2]
        refused = fetched(gate, Origin="http://gulls.example")[2]
    for found in (fields, refused):
        policy = dict(part.split(" ", 1) for part in found["Content-Security-Policy"].split("; "))
        assert policy["frame-ancestors"] == policy["default-src"] == "'none'"
        assert found["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/" + "a" * 5000, "/" + "a" * 900, "/%00"])
def test_a_path_that_no_file_can_have_is_refused(server, path):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        assert fetched(gate, path)[0] in (404, 414)


@pytest.mark.parametrize(
    "message",
    [b"", b"\xc1", b"\x00" * 100, "{}", msgpack({"type": "GuiUpdateMessage"}), msgpack([1, 2])],
    ids=["empty", "no msgpack", "zeros", "text", "incomplete", "no map"],
)
def test_what_cannot_be_read_ends_its_own_connection_with_one_line(server, message, caplog):
    with (
        AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate,
        session(gate) as good,
    ):
        with session(gate) as bad, pytest.raises(exceptions.ConnectionClosed):
            say(bad, message)
        assert len(good.recv(WAIT_S)) > 16
        server.scene.add_label("/gull", "still seen")
        assert len(good.recv(WAIT_S)) > 16
    said = [one for one in caplog.records if one.name.startswith("kittiwake")]
    assert [one.exc_info for one in said] == [None] * len(said)
    assert not [one for one in caplog.records if one.exc_info]


def test_a_message_of_a_size_that_no_page_sends_is_refused_before_it_is_read(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        with session(gate) as bad, pytest.raises(exceptions.ConnectionClosed) as closed:
            say(bad, bytes(MOST_MESSAGE_BYTES + 1))
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


def test_a_websocket_gets_the_scene_and_what_is_added_to_it(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
        origin = f"http://{LOOPBACK}:{gate.port}"
        with session(gate, Origin=origin) as socket:
            assert socket.subprotocol == f"viser-v{viser.__version__}"
            assert len(socket.recv(WAIT_S)) > 16
            server.scene.add_label("/gull", "a gull")
            assert len(socket.recv(WAIT_S)) > 16


def test_a_websocket_of_another_page_is_refused(server):
    with (
        AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate,
        pytest.raises(exceptions.InvalidStatus, match="403"),
        session(gate, Origin="http://gulls.example"),
    ):
        pass


def test_with_a_token_page_and_websocket_come_by_the_cookie(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), TOKEN, server.secret) as gate:
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
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as gate:
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
