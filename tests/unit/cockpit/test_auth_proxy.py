"""The proxy in front of a small server: authentication, relaying and closing."""

import socket
import socketserver
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

import pytest

from kittiwake.cockpit import auth_proxy as proxy_module
from kittiwake.cockpit import relay as relay_module
from kittiwake.cockpit.auth_proxy import LOOPBACK, MAX_CONNECTIONS, MAX_PENDING, AuthProxy
from kittiwake.core.errors import CockpitError

TOKEN = "a secret of the cockpit"
WAIT_S = 20.0
MEGABYTE = 1 << 20


class Inner(socketserver.ThreadingTCPServer):
    """Server that passes each connection to a function."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, serve):
        self.reached = 0
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                server.reached += 1
                disconnected = (ConnectionError, TimeoutError)
                try:
                    self.request.settimeout(WAIT_S)
                    serve(self.request)
                except disconnected:
                    pass

        super().__init__((LOOPBACK, 0), Handler)

    @property
    def port(self):
        return self.server_address[1]


def echo(connection):
    """Echo all data until the connection ends."""
    while data := connection.recv(65536):
        connection.sendall(data)


def page(connection):
    """Respond to a request with its first line, and close."""
    first = connection.recv(65536).partition(b"\r\n")[0]
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(first)}\r\nConnection: close\r\n\r\n"
    connection.sendall(head.encode() + first)


@contextmanager
def inner(serve):
    with Inner(serve) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def proxied(serve, token=None):
    with inner(serve) as server, AuthProxy(LOOPBACK, 0, server.port, token) as proxy:
        yield proxy, server


def connect(proxy):
    connection = socket.create_connection((LOOPBACK, proxy.port), WAIT_S)
    connection.settimeout(WAIT_S)
    return connection


def request_head(proxy, **fields):
    lines = ["GET / HTTP/1.1", f"Host: {LOOPBACK}:{proxy.port}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def admitted(proxy):
    """Return an admitted connection, with the echo of its head read."""
    connection, greeting = connect(proxy), request_head(proxy)
    connection.sendall(greeting)
    assert read_exactly(connection, len(greeting)) == greeting
    return connection


def read_exactly(connection, length):
    found = bytearray()
    while len(found) < length:
        data = connection.recv(min(length - len(found), 65536))
        assert data, f"ended after {len(found)} of {length} bytes"
        found += data
    return bytes(found)


def read_all(connection):
    found = bytearray()
    while data := connection.recv(65536):
        found += data
    return bytes(found)


def fetch(proxy, target="/", **fields):
    client = HTTPConnection(LOOPBACK, proxy.port, timeout=WAIT_S)
    try:
        client.request("GET", target, headers=fields)
        answer = client.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        client.close()


def is_admitted(proxy):
    try:
        return fetch(proxy)[0] == 200
    except (ConnectionError, HTTPException):
        return False


def status_of(proxy, sent):
    """Return the HTTP status for sent bytes; None if the connection ends without a response."""
    with connect(proxy) as connection:
        connection.sendall(sent)
        received = read_all(connection)
    return int(received.split()[1]) if received else None


def wait_until(condition):
    end_s = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end_s, "the condition never became true"
        time.sleep(0.01)


def pattern(length):
    """Return bytes without short repetitions, so that misplaced chunks are detected."""
    return b"".join(i.to_bytes(8, "little") for i in range(-(-length // 8)))[:length]


# authentication


def test_the_proxy_forwards_a_page():
    with proxied(page) as (proxy, _):
        assert proxy.address == f"http://127.0.0.1:{proxy.port}/"
        status, text, _ = fetch(proxy, "/some?thing")
        assert (status, text) == (200, "GET /some?thing HTTP/1.1")


@pytest.mark.parametrize(
    "fields", [{"Origin": "http://gulls.example"}, {"Host": "gulls.example:80"}]
)
def test_refused_requests_do_not_reach_the_server(fields):
    with proxied(page) as (proxy, server):
        status, text, _ = fetch(proxy, **fields)
        assert status == 403
        assert text.endswith(".\n")
        assert server.reached == 0


def test_the_address_with_the_token_sets_a_cookie():
    with proxied(page, TOKEN) as (proxy, server):
        assert fetch(proxy)[0] == 403
        assert fetch(proxy, "/?token=a+secret+of+the+cockpi")[0] == 403
        address = urlsplit(proxy.address)
        status, _, fields = fetch(proxy, f"{address.path}?{address.query}")
        assert (status, fields["Location"], server.reached) == (303, "/", 0)
        cookie = fields["Set-Cookie"].partition(";")[0]
        assert fetch(proxy, fields["Location"], Cookie=cookie)[0] == 200
        assert fetch(proxy, Cookie=cookie[:-1])[0] == 403


def test_cookies_of_two_cockpits_have_different_names():
    names = set()
    with inner(page) as server:
        for _ in range(2):
            with AuthProxy(LOOPBACK, 0, server.port, TOKEN) as proxy:
                query = urlsplit(proxy.address).query
                cookie = fetch(proxy, f"/?{query}")[2]["Set-Cookie"]
                names.add((cookie.partition("=")[0], proxy.port))
    assert all(name == f"kittiwake-cockpit-{port}" for name, port in names)


def test_the_token_is_url_encoded_in_the_address():
    with AuthProxy(LOOPBACK, 0, 1, "ü&=/?# sixteen characters") as proxy:
        assert proxy.address.endswith("/?token=%C3%BC%26%3D%2F%3F%23%20sixteen%20characters")


def test_non_http_data_is_refused_immediately():
    with proxied(page) as (proxy, server):
        # a TLS handshake
        assert status_of(proxy, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") == 400
        assert status_of(proxy, b"GET me out\r\n\r\n") == 400
        assert server.reached == 0


def test_a_too_large_head_is_refused_before_it_is_complete():
    with proxied(page) as (proxy, server):
        assert status_of(proxy, request_head(proxy)[:-2] + b"X: " + b"y" * (32 * 1024)) == 431
        largest = request_head(proxy)[:-2] + b"X: "
        largest += b"y" * (16 * 1024 - len(largest) - 4) + b"\r\n\r\n"
        assert status_of(proxy, largest) == 200
        assert server.reached == 1


def test_a_refusal_reaches_a_client_that_is_still_sending():
    with proxied(page) as (proxy, _):
        refused = request_head(proxy, Origin="http://gulls.example")
        assert status_of(proxy, refused + pattern(4 * MEGABYTE)) == 403


def test_a_slow_head_is_accepted_up_to_the_timeout(monkeypatch):
    with proxied(page) as (proxy, _):
        with connect(proxy) as connection:
            for byte in request_head(proxy):
                connection.sendall(bytes([byte]))
            assert read_all(connection).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(proxy_module, "REQUEST_TIMEOUT_S", 0.2)
        assert status_of(proxy, request_head(proxy)[:-2]) == 408
        # a connection that a browser opens in advance
        assert status_of(proxy, b"") is None


# many connections


@pytest.mark.parametrize("start", [b"", b"GET / HT"])
def test_unfinished_requests_do_not_block_others(start):
    with proxied(page, TOKEN) as (proxy, _), ExitStack() as stack:
        for _ in range(200):
            connection = stack.enter_context(connect(proxy))
            with suppress(OSError):  # it has already been displaced
                connection.sendall(start)
        wait_until(lambda: len([*proxy._pending]) == MAX_PENDING)
        target = urlsplit(proxy.address)
        began_s = time.monotonic()
        status, _, fields = fetch(proxy, f"/?{target.query}")
        assert status == 303
        cookie = fields["Set-Cookie"].partition(";")[0]
        assert fetch(proxy, Cookie=cookie)[0] == 200
        # the request does not wait for pending connections
        assert time.monotonic() - began_s < proxy_module.REQUEST_TIMEOUT_S / 2


def test_admitted_connections_survive_many_pending_ones():
    with proxied(echo) as (proxy, _), ExitStack() as stack:
        known = stack.enter_context(admitted(proxy))
        for _ in range(2 * MAX_PENDING):
            stack.enter_context(connect(proxy))
        wait_until(lambda: len([*proxy._pending]) == MAX_PENDING)
        known.sendall(b"still here")
        assert read_exactly(known, 10) == b"still here"
        stack.enter_context(admitted(proxy))


def test_the_number_of_connections_is_limited():
    with proxied(echo) as (proxy, server), ExitStack() as stack:
        connections = [stack.enter_context(admitted(proxy)) for _ in range(MAX_CONNECTIONS)]
        assert status_of(proxy, request_head(proxy)) == 503
        assert server.reached == MAX_CONNECTIONS
        connections.pop().close()
        wait_until(lambda: proxy._admitted < MAX_CONNECTIONS)
        stack.enter_context(admitted(proxy))


def test_the_proxy_survives_a_flood_of_connections():
    with proxied(page) as (proxy, _):
        for _ in range(300):
            connect(proxy).close()
        # a request during the flood is refused or dropped
        wait_until(lambda: is_admitted(proxy))


# relaying


@pytest.mark.slow
def test_large_data_is_relayed_unchanged_in_both_directions():
    sent = pattern(20 * MEGABYTE)
    with proxied(echo) as (proxy, _), admitted(proxy) as connection:
        sender = threading.Thread(target=connection.sendall, args=(sent,))
        sender.start()
        assert read_exactly(connection, len(sent)) == sent
        sender.join()


def test_data_after_the_head_is_relayed():
    with proxied(echo) as (proxy, _), connect(proxy) as connection:
        sent = request_head(proxy) + b"a body"
        connection.sendall(sent)
        assert read_exactly(connection, len(sent)) == sent


def test_a_client_that_does_not_read_slows_the_server_down():
    sent = [0]

    def flood(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        connection.recv(65536)
        for _ in range(64):
            connection.sendall(bytes(MEGABYTE))
            sent[0] += 1

    with proxied(flood) as (proxy, _), connect(proxy) as connection:
        connection.sendall(request_head(proxy))
        wait_until(lambda: sent[0] > 0)
        before = -1
        while sent[0] != before:
            before = sent[0]
            time.sleep(0.2)
        # the rest waits in the server: sockets buffer some megabytes, the proxy a few chunks
        assert sent[0] < 32
        assert read_exactly(connection, 64 * MEGABYTE) == bytes(64 * MEGABYTE)
        assert sent[0] == 64


def test_a_client_that_does_not_read_is_disconnected(monkeypatch):
    monkeypatch.setattr(relay_module, "STALL_S", 0.2)
    ended = threading.Event()

    def flood(connection):
        try:
            while True:
                connection.sendall(bytes(MEGABYTE))
        finally:
            ended.set()

    with proxied(flood) as (proxy, _), connect(proxy) as connection:
        connection.sendall(request_head(proxy))
        assert ended.wait(WAIT_S)


# end of a connection


def test_the_end_of_the_server_closes_the_client():
    with proxied(page) as (proxy, _), connect(proxy) as connection:
        connection.sendall(request_head(proxy))
        assert read_all(connection).endswith(b"GET / HTTP/1.1")
        connection.close()
        wait_until(lambda: not proxy._connections)


def test_the_end_of_the_client_closes_the_server():
    ended = threading.Event()

    def listen(connection):
        while connection.recv(65536):
            pass
        ended.set()

    with proxied(listen) as (proxy, _):
        with connect(proxy) as connection:
            connection.sendall(request_head(proxy))
        assert ended.wait(WAIT_S)
        wait_until(lambda: not proxy._connections)


def test_a_reset_by_the_client_closes_the_server():
    ended = threading.Event()

    def talk(connection):
        try:
            while True:
                connection.sendall(b"more data")
                time.sleep(0.001)
        finally:
            ended.set()

    with proxied(talk) as (proxy, _):
        with connect(proxy) as connection:
            connection.sendall(request_head(proxy))
            connection.recv(1)
            # reset the connection
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        assert ended.wait(WAIT_S)
        wait_until(lambda: not proxy._connections)


def test_a_half_closed_client_receives_the_response():
    def count(connection):
        length = 0
        while data := connection.recv(65536):
            length += len(data)
        connection.sendall(str(length).encode())

    with proxied(count) as (proxy, _), connect(proxy) as connection:
        sent = request_head(proxy) + pattern(MEGABYTE)
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == str(len(sent)).encode()


def test_a_half_closed_server_receives_the_rest():
    received = []

    def quiet(connection):
        connection.shutdown(socket.SHUT_WR)
        received.append(read_all(connection))

    with proxied(quiet) as (proxy, _), connect(proxy) as connection:
        sent = request_head(proxy) + pattern(MEGABYTE)
        connection.sendall(request_head(proxy))
        assert read_all(connection) == b""
        connection.sendall(sent[len(request_head(proxy)) :])
        connection.shutdown(socket.SHUT_WR)
        wait_until(lambda: received)
        assert received == [sent]


def test_an_idle_half_closed_connection_is_closed(monkeypatch):
    monkeypatch.setattr(relay_module, "LINGER_S", 0.2)
    with proxied(page) as (proxy, _), connect(proxy) as connection:
        connection.sendall(request_head(proxy))
        read_all(connection)
        # this side stays open
        wait_until(lambda: not proxy._connections)


def test_a_missing_server_is_a_bad_gateway():
    with inner(page) as server:
        port = server.port
    with AuthProxy(LOOPBACK, 0, port) as proxy:
        assert fetch(proxy)[:2] == (502, "The cockpit at this address has ended.\n")


# opening and closing of the proxy


def test_closing_the_proxy_closes_all_connections_and_threads():
    before = set(threading.enumerate())
    with inner(echo) as server, ExitStack() as stack:
        with AuthProxy(LOOPBACK, 0, server.port) as proxy:
            client = stack.enter_context(admitted(proxy))
            pending = stack.enter_context(connect(proxy))
            wait_until(lambda: len(proxy._connections) == 2)
            port, started_s = proxy.port, time.monotonic()
        assert time.monotonic() - started_s < 5.0
        for connection in (client, pending):
            with pytest.raises((ConnectionError, AssertionError)):
                read_exactly(connection, 1)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, port), WAIT_S)
    wait_until(lambda: set(threading.enumerate()) <= before)


def test_a_closed_proxy_frees_its_port():
    with inner(page) as server:
        with AuthProxy(LOOPBACK, 0, server.port) as proxy:
            port = proxy.port
            assert fetch(proxy)[0] == 200
        with AuthProxy(LOOPBACK, port, server.port) as proxy:
            assert proxy.port == port
            assert fetch(proxy)[0] == 200


def refusal(*arguments):
    before = threading.active_count()
    with pytest.raises(CockpitError) as refused, AuthProxy(*arguments):
        pass
    assert threading.active_count() == before
    return str(refused.value)


def test_a_port_in_use_is_refused():
    with socket.create_server((LOOPBACK, 0)) as holder:
        port = holder.getsockname()[1]
        message = refusal(LOOPBACK, port, 1)
    assert message == (
        f"`--port`: {port} of 127.0.0.1 is in use. Choose another, or 0 for any free port"
    )


def test_an_address_of_another_machine_cannot_be_opened():
    message = refusal("192.0.2.1", 8080, 1, TOKEN)
    assert message.startswith("`--port`: 8080 of 192.0.2.1 cannot be opened: ")
    assert message.endswith(". Choose another --port or --host")


@pytest.mark.parametrize("port", [-1, 65536])
def test_an_invalid_port_is_refused(port):
    assert refusal(LOOPBACK, port, 1).startswith(f"`--port`: got {port}; must be 1 to 65535")


@pytest.mark.parametrize("host", ["nowhere.invalid", "127.0.0.1:80", "x" * 70 + ".example"])
def test_an_invalid_host_is_refused(host):
    assert refusal(host, 0, 1, TOKEN).startswith(f"`--host`: got {host}; must be ")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_a_public_host_requires_a_token(host):
    message = refusal(host, 0, 1)
    assert message.startswith(f"`--host`: got {host}, which other machines can reach")
    assert "--token-file FILE with a token of at least 16 characters" in message


@pytest.mark.parametrize("token", ["", "fifteen letters"])
def test_a_short_token_is_refused(token):
    message = refusal(LOOPBACK, 0, 1, token)
    assert (
        message == f"`--token-file`: got a token of {len(token)} characters; must have at least 16"
    )


def test_the_unspecified_address_is_shown_as_loopback():
    with inner(page) as server, AuthProxy("0.0.0.0", 0, server.port, TOKEN) as proxy:
        assert proxy.address.startswith(f"http://127.0.0.1:{proxy.port}/?token=")
        assert fetch(proxy, "/")[0] == 403


def test_the_proxy_listens_on_localhost_and_ipv6_loopback():
    with inner(page) as server:
        with AuthProxy("localhost", 0, server.port) as proxy:
            assert proxy.address == f"http://localhost:{proxy.port}/"
        if not socket.has_dualstack_ipv6():
            pytest.skip("this machine has no IPv6")
        with AuthProxy("::1", 0, server.port) as proxy:
            assert proxy.address == f"http://[::1]:{proxy.port}/"
            with socket.create_connection(("::1", proxy.port), WAIT_S) as connection:
                connection.sendall(f"GET / HTTP/1.0\r\nHost: [::1]:{proxy.port}\r\n\r\n".encode())
                assert read_all(connection).endswith(b"GET / HTTP/1.0")
