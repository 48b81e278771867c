"""The proxy in front of viser: the page, its WebSocket, and refused clients."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from kittiwake.cockpit.auth_proxy import LOOPBACK, AuthProxy
from kittiwake.cockpit.server import MAX_MESSAGE_BYTES, PageServer

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


def fetch(proxy, target="/", **fields):
    connection = HTTPConnection(LOOPBACK, proxy.port, timeout=WAIT_S)
    try:
        connection.request("GET", target, headers=fields)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def session(proxy, **fields):
    """Return a WebSocket to the cockpit; its first message is the scene."""
    return client.connect(
        f"ws://{LOOPBACK}:{proxy.port}/",
        subprotocols=[f"viser-v{viser.__version__}"],
        additional_headers=fields,
        open_timeout=WAIT_S,
        max_size=None,
        proxy=None,
    )


def send_until_closed(socket, message):
    """Send a message, and read until the connection ends."""
    socket.send(message)
    while True:
        socket.recv(WAIT_S)


def test_the_page_is_complete(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy:
        status, page, fields = fetch(proxy)
        assert (status, len(page)) == (200, int(fields["Content-Length"]))
        assert len(page) > 100_000
        assert b"<title>" in page


def test_the_page_has_a_content_security_policy_without_framing(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy:
        fields = fetch(proxy)[2]
        refused = fetch(proxy, Origin="http://gulls.example")[2]
    for found in (fields, refused):
        policy = dict(part.split(" ", 1) for part in found["Content-Security-Policy"].split("; "))
        assert policy["frame-ancestors"] == policy["default-src"] == "'none'"
        assert found["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/" + "a" * 5000, "/" + "a" * 900, "/%00"])
def test_an_invalid_path_is_refused(server, path):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy:
        assert fetch(proxy, path)[0] in (404, 414)


@pytest.mark.parametrize(
    "message",
    [b"", b"\xc1", b"\x00" * 100, "{}", msgpack({"type": "GuiUpdateMessage"}), msgpack([1, 2])],
    ids=["empty", "no msgpack", "zeros", "text", "incomplete", "no map"],
)
def test_an_unreadable_message_closes_only_its_connection(server, message, caplog):
    with (
        AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy,
        session(proxy) as good,
    ):
        with session(proxy) as bad, pytest.raises(exceptions.ConnectionClosed):
            send_until_closed(bad, message)
        assert len(good.recv(WAIT_S)) > 16
        server.scene.add_label("/gull", "still seen")
        assert len(good.recv(WAIT_S)) > 16
    records = [one for one in caplog.records if one.name.startswith("kittiwake")]
    assert [one.exc_info for one in records] == [None] * len(records)
    assert not [one for one in caplog.records if one.exc_info]


def test_a_too_large_message_is_refused(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy:
        with session(proxy) as bad, pytest.raises(exceptions.ConnectionClosed) as closed:
            send_until_closed(bad, bytes(MAX_MESSAGE_BYTES + 1))
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


def test_a_websocket_receives_the_scene_and_its_updates(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy:
        origin = f"http://{LOOPBACK}:{proxy.port}"
        with session(proxy, Origin=origin) as socket:
            assert socket.subprotocol == f"viser-v{viser.__version__}"
            assert len(socket.recv(WAIT_S)) > 16
            server.scene.add_label("/gull", "a gull")
            assert len(socket.recv(WAIT_S)) > 16


def test_a_cross_origin_websocket_is_refused(server):
    with (
        AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy,
        pytest.raises(exceptions.InvalidStatus, match="403"),
        session(proxy, Origin="http://gulls.example"),
    ):
        pass


def test_the_cookie_admits_page_and_websocket(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), TOKEN, server.secret) as proxy:
        with pytest.raises(exceptions.InvalidStatus, match="403"), session(proxy):
            pass
        assert fetch(proxy)[0] == 403
        status, _, fields = fetch(proxy, f"/?{urlsplit(proxy.address).query}")
        assert status == 303
        cookie = fields["Set-Cookie"].partition(";")[0]
        assert fetch(proxy, Cookie=cookie)[0] == 200
        with session(proxy, Cookie=cookie) as socket:
            assert len(socket.recv(WAIT_S)) > 16


def test_closing_the_proxy_closes_websockets(server):
    with AuthProxy(LOOPBACK, 0, server.get_port(), secret=server.secret) as proxy:
        socket = session(proxy)
        socket.recv(WAIT_S)
    # received data is still readable; iteration ends without an error only after a clean close
    with socket, pytest.raises(exceptions.ConnectionClosedError):
        list(socket)


def test_direct_access_to_the_page_server_is_refused(server):
    connection = HTTPConnection(LOOPBACK, server.get_port(), timeout=WAIT_S)
    try:
        connection.request("GET", "/")
        assert connection.getresponse().status == 403
    finally:
        connection.close()
    with pytest.raises(exceptions.InvalidStatus, match="403"):
        client.connect(f"ws://{LOOPBACK}:{server.get_port()}/", proxy=None)


def test_sharing_is_disabled(server):
    assert server.request_share_url() is None
