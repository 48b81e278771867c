"""The gate with a small server behind it: whom it lets in, what it relays, and how it ends."""

import socket
import socketserver
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

import pytest

from kittiwake.cockpit import auth_proxy as gate_module
from kittiwake.cockpit import relay as relay_module
from kittiwake.cockpit.auth_proxy import LOOPBACK, MOST_CONNECTIONS, MOST_STRANGERS, AuthProxy
from kittiwake.core.errors import CockpitError

TOKEN = "a secret of the cockpit"
WAIT_S = 20.0
MEGABYTE = 1 << 20


class Inner(socketserver.ThreadingTCPServer):
    """A server of one function, which is given each connection that reaches it."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, serve):
        self.reached = 0
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                server.reached += 1
                with_nobody_left = (ConnectionError, TimeoutError)
                try:
                    self.request.settimeout(WAIT_S)
                    serve(self.request)
                except with_nobody_left:
                    pass

        super().__init__((LOOPBACK, 0), Handler)

    @property
    def port(self):
        return self.server_address[1]


def echo(connection):
    """Sends back what comes, until that ends."""
    while data := connection.recv(65536):
        connection.sendall(data)


def page(connection):
    """Answers one request with its own first line, and closes."""
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
def behind_a_gate(serve, token=None):
    with inner(serve) as server, AuthProxy(LOOPBACK, 0, server.port, token) as gate:
        yield gate, server


def connected(gate):
    connection = socket.create_connection((LOOPBACK, gate.port), WAIT_S)
    connection.settimeout(WAIT_S)
    return connection


def hello(gate, **fields):
    lines = ["GET / HTTP/1.1", f"Host: {LOOPBACK}:{gate.port}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def admitted(gate):
    """A connection on which all goes through, with what was needed for that read away."""
    connection, greeting = connected(gate), hello(gate)
    connection.sendall(greeting)
    assert exactly(connection, len(greeting)) == greeting
    return connection


def exactly(connection, length):
    found = bytearray()
    while len(found) < length:
        data = connection.recv(min(length - len(found), 65536))
        assert data, f"ended after {len(found)} of {length} bytes"
        found += data
    return bytes(found)


def until_the_end(connection):
    found = bytearray()
    while data := connection.recv(65536):
        found += data
    return bytes(found)


def asked(gate, target="/", **fields):
    client = HTTPConnection(LOOPBACK, gate.port, timeout=WAIT_S)
    try:
        client.request("GET", target, headers=fields)
        answer = client.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        client.close()


def came_in(gate):
    try:
        return asked(gate)[0] == 200
    except (ConnectionError, HTTPException):
        return False


def answered(gate, sent):
    """What comes back for some bytes, as a status; None if the connection ends without a word."""
    with connected(gate) as connection:
        connection.sendall(sent)
        said = until_the_end(connection)
    return int(said.split()[1]) if said else None


def wait_until(true):
    end_s = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end_s, "it never came true"
        time.sleep(0.01)


def noise(length):
    """Bytes that do not repeat soon, so that a piece in the wrong place is seen."""
    return b"".join(i.to_bytes(8, "little") for i in range(-(-length // 8)))[:length]


# whom it lets in


def test_a_page_arrives_through_the_gate():
    with behind_a_gate(page) as (gate, _):
        assert gate.address == f"http://127.0.0.1:{gate.port}/"
        status, text, _ = asked(gate, "/some?thing")
        assert (status, text) == (200, "GET /some?thing HTTP/1.1")


@pytest.mark.parametrize(
    "fields", [{"Origin": "http://gulls.example"}, {"Host": "gulls.example:80"}]
)
def test_who_is_refused_never_reaches_the_server(fields):
    with behind_a_gate(page) as (gate, server):
        status, text, _ = asked(gate, **fields)
        assert status == 403
        assert text.endswith(".\n")
        assert server.reached == 0


def test_the_address_with_the_token_leads_in_and_the_cookie_stays():
    with behind_a_gate(page, TOKEN) as (gate, server):
        assert asked(gate)[0] == 403
        assert asked(gate, "/?token=a+secret+of+the+cockpi")[0] == 403
        address = urlsplit(gate.address)
        status, _, fields = asked(gate, f"{address.path}?{address.query}")
        assert (status, fields["Location"], server.reached) == (303, "/", 0)
        cookie = fields["Set-Cookie"].partition(";")[0]
        assert asked(gate, fields["Location"], Cookie=cookie)[0] == 200
        assert asked(gate, Cookie=cookie[:-1])[0] == 403


def test_two_cockpits_of_a_machine_keep_their_cookies_apart():
    names = set()
    with inner(page) as server:
        for _ in range(2):
            with AuthProxy(LOOPBACK, 0, server.port, TOKEN) as gate:
                query = urlsplit(gate.address).query
                cookie = asked(gate, f"/?{query}")[2]["Set-Cookie"]
                names.add((cookie.partition("=")[0], gate.port))
    assert all(name == f"kittiwake-cockpit-{port}" for name, port in names)


def test_a_token_is_written_into_the_address_as_addresses_are():
    with AuthProxy(LOOPBACK, 0, 1, "ü&=/?# sixteen characters") as gate:
        assert gate.address.endswith("/?token=%C3%BC%26%3D%2F%3F%23%20sixteen%20characters")


def test_what_is_no_http_is_told_so_at_once():
    with behind_a_gate(page) as (gate, server):
        # a browser that was told https
        assert answered(gate, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") == 400
        assert answered(gate, b"GET me out\r\n\r\n") == 400
        assert server.reached == 0


def test_a_head_that_is_too_large_is_refused_while_it_still_comes():
    with behind_a_gate(page) as (gate, server):
        assert answered(gate, hello(gate)[:-2] + b"X: " + b"y" * (32 * 1024)) == 431
        largest = hello(gate)[:-2] + b"X: "
        largest += b"y" * (16 * 1024 - len(largest) - 4) + b"\r\n\r\n"
        assert answered(gate, largest) == 200
        assert server.reached == 1


def test_a_refusal_reaches_who_still_talks():
    with behind_a_gate(page) as (gate, _):
        refused = hello(gate, Origin="http://gulls.example")
        assert answered(gate, refused + noise(4 * MEGABYTE)) == 403


def test_a_slow_head_is_waited_for_but_not_for_ever(monkeypatch):
    with behind_a_gate(page) as (gate, _):
        with connected(gate) as connection:
            for byte in hello(gate):
                connection.sendall(bytes([byte]))
            assert until_the_end(connection).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(gate_module, "PATIENCE_S", 0.2)
        assert answered(gate, hello(gate)[:-2]) == 408
        # a connection that a browser opens in advance
        assert answered(gate, b"") is None


# the crowd


@pytest.mark.parametrize("begun", [b"", b"GET / HT"])
def test_connections_that_do_not_finish_a_request_keep_nobody_out(begun):
    with behind_a_gate(page, TOKEN) as (gate, _), ExitStack() as stack:
        for _ in range(200):
            connection = stack.enter_context(connected(gate))
            with suppress(OSError):  # it has given way already
                connection.sendall(begun)
        wait_until(lambda: len([*gate._strangers]) == MOST_STRANGERS)
        target = urlsplit(gate.address)
        began_s = time.monotonic()
        status, _, fields = asked(gate, f"/?{target.query}")
        assert status == 303
        cookie = fields["Set-Cookie"].partition(";")[0]
        assert asked(gate, Cookie=cookie)[0] == 200
        # a request that is served at once is not, where connections wait for each other
        assert time.monotonic() - began_s < gate_module.PATIENCE_S / 2


def test_who_has_come_in_stays_while_others_crowd():
    with behind_a_gate(echo) as (gate, _), ExitStack() as stack:
        known = stack.enter_context(admitted(gate))
        for _ in range(2 * MOST_STRANGERS):
            stack.enter_context(connected(gate))
        wait_until(lambda: len([*gate._strangers]) == MOST_STRANGERS)
        known.sendall(b"still here")
        assert exactly(known, 10) == b"still here"
        stack.enter_context(admitted(gate))


def test_there_is_room_for_so_many_and_no_more():
    with behind_a_gate(echo) as (gate, server), ExitStack() as stack:
        guests = [stack.enter_context(admitted(gate)) for _ in range(MOST_CONNECTIONS)]
        assert answered(gate, hello(gate)) == 503
        assert server.reached == MOST_CONNECTIONS
        guests.pop().close()
        wait_until(lambda: gate._guests < MOST_CONNECTIONS)
        stack.enter_context(admitted(gate))


def test_a_flood_passes_and_the_gate_stands():
    with behind_a_gate(page) as (gate, _):
        for _ in range(300):
            connected(gate).close()
        # who comes in the midst of it is told to come later, or hears nothing
        wait_until(lambda: came_in(gate))


# what it relays


def test_much_goes_through_both_ways_byte_for_byte():
    sent = noise(20 * MEGABYTE)
    with behind_a_gate(echo) as (gate, _), admitted(gate) as connection:
        sender = threading.Thread(target=connection.sendall, args=(sent,))
        sender.start()
        assert exactly(connection, len(sent)) == sent
        sender.join()


def test_what_comes_with_the_head_goes_through_too():
    with behind_a_gate(echo) as (gate, _), connected(gate) as connection:
        sent = hello(gate) + b"a body"
        connection.sendall(sent)
        assert exactly(connection, len(sent)) == sent


def test_who_does_not_read_is_not_written_for():
    sent = [0]

    def flood(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        connection.recv(65536)
        for _ in range(64):
            connection.sendall(bytes(MEGABYTE))
            sent[0] += 1

    with behind_a_gate(flood) as (gate, _), connected(gate) as connection:
        connection.sendall(hello(gate))
        wait_until(lambda: sent[0] > 0)
        before = -1
        while sent[0] != before:
            before = sent[0]
            time.sleep(0.2)
        # the rest waits in the server: sockets hold some megabytes, the gate a few of its pieces
        assert sent[0] < 32
        assert exactly(connection, 64 * MEGABYTE) == bytes(64 * MEGABYTE)
        assert sent[0] == 64


def test_who_takes_nothing_for_long_is_let_go(monkeypatch):
    monkeypatch.setattr(relay_module, "STALL_S", 0.2)
    ended = threading.Event()

    def flood(connection):
        try:
            while True:
                connection.sendall(bytes(MEGABYTE))
        finally:
            ended.set()

    with behind_a_gate(flood) as (gate, _), connected(gate) as connection:
        connection.sendall(hello(gate))
        assert ended.wait(WAIT_S)


# how a connection ends


def test_a_server_that_ends_ends_its_browser():
    with behind_a_gate(page) as (gate, _), connected(gate) as connection:
        connection.sendall(hello(gate))
        assert until_the_end(connection).endswith(b"GET / HTTP/1.1")
        connection.close()
        wait_until(lambda: not gate._visits)


def test_a_browser_that_ends_ends_its_server():
    ended = threading.Event()

    def listen(connection):
        while connection.recv(65536):
            pass
        ended.set()

    with behind_a_gate(listen) as (gate, _):
        with connected(gate) as connection:
            connection.sendall(hello(gate))
        assert ended.wait(WAIT_S)
        wait_until(lambda: not gate._visits)


def test_a_browser_that_breaks_off_ends_its_server():
    ended = threading.Event()

    def talk(connection):
        try:
            while True:
                connection.sendall(b"on and on")
                time.sleep(0.001)
        finally:
            ended.set()

    with behind_a_gate(talk) as (gate, _):
        with connected(gate) as connection:
            connection.sendall(hello(gate))
            connection.recv(1)
            # a reset instead of an end
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        assert ended.wait(WAIT_S)
        wait_until(lambda: not gate._visits)


def test_who_has_said_all_still_hears_the_answer():
    def count(connection):
        length = 0
        while data := connection.recv(65536):
            length += len(data)
        connection.sendall(str(length).encode())

    with behind_a_gate(count) as (gate, _), connected(gate) as connection:
        sent = hello(gate) + noise(MEGABYTE)
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert until_the_end(connection) == str(len(sent)).encode()


def test_who_hears_no_more_may_still_say_the_rest():
    heard = []

    def quiet(connection):
        connection.shutdown(socket.SHUT_WR)
        heard.append(until_the_end(connection))

    with behind_a_gate(quiet) as (gate, _), connected(gate) as connection:
        sent = hello(gate) + noise(MEGABYTE)
        connection.sendall(hello(gate))
        assert until_the_end(connection) == b""
        connection.sendall(sent[len(hello(gate)) :])
        connection.shutdown(socket.SHUT_WR)
        wait_until(lambda: heard)
        assert heard == [sent]


def test_half_a_connection_that_is_silent_does_not_stay(monkeypatch):
    monkeypatch.setattr(relay_module, "LINGER_S", 0.2)
    with behind_a_gate(page) as (gate, _), connected(gate) as connection:
        connection.sendall(hello(gate))
        until_the_end(connection)
        # this side stays open
        wait_until(lambda: not gate._visits)


def test_without_a_server_behind_it_the_gate_says_so():
    with inner(page) as server:
        port = server.port
    with AuthProxy(LOOPBACK, 0, port) as gate:
        assert asked(gate)[:2] == (502, "The cockpit behind this address has ended.\n")


# how the gate opens and closes


def test_the_gate_closes_with_all_that_goes_on_and_leaves_no_thread():
    before = set(threading.enumerate())
    with inner(echo) as server, ExitStack() as stack:
        with AuthProxy(LOOPBACK, 0, server.port) as gate:
            guest = stack.enter_context(admitted(gate))
            stranger = stack.enter_context(connected(gate))
            wait_until(lambda: len(gate._visits) == 2)
            port, started_s = gate.port, time.monotonic()
        assert time.monotonic() - started_s < 5.0
        for connection in (guest, stranger):
            with pytest.raises((ConnectionError, AssertionError)):
                exactly(connection, 1)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, port), WAIT_S)
    wait_until(lambda: set(threading.enumerate()) <= before)


def test_the_port_is_free_again_for_the_next_gate():
    with inner(page) as server:
        with AuthProxy(LOOPBACK, 0, server.port) as gate:
            port = gate.port
            assert asked(gate)[0] == 200
        with AuthProxy(LOOPBACK, port, server.port) as gate:
            assert gate.port == port
            assert asked(gate)[0] == 200


def refusal(*arguments):
    before = threading.active_count()
    with pytest.raises(CockpitError) as refused, AuthProxy(*arguments):
        pass
    assert threading.active_count() == before
    return str(refused.value)


def test_a_port_that_is_taken_is_refused_and_no_other_one_taken():
    with socket.create_server((LOOPBACK, 0)) as holder:
        port = holder.getsockname()[1]
        message = refusal(LOOPBACK, port, 1)
    assert message == (
        f"port {port} of 127.0.0.1 is taken; give another --port, or 0 for any free one"
    )


def test_an_address_of_another_machine_cannot_be_opened():
    message = refusal("192.0.2.1", 8080, 1, TOKEN)
    assert message.startswith("port 8080 of 192.0.2.1 cannot be opened: ")
    assert message.endswith("; give another --port or --host")


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_refused(port):
    assert refusal(LOOPBACK, port, 1).startswith(f"there is no port {port}; give --port 1 to 65535")


@pytest.mark.parametrize("host", ["nowhere.invalid", "127.0.0.1:80", "x" * 70 + ".example"])
def test_a_host_that_is_no_address_is_refused(host):
    assert refusal(host, 0, 1, TOKEN).startswith(f"there is no address {host}; give --host")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_a_host_beyond_this_machine_takes_a_token(host):
    message = refusal(host, 0, 1)
    assert message.startswith(f"{host} can be reached from other machines")
    assert "--token-file FILE with a token of 16 characters" in message


@pytest.mark.parametrize("token", ["", "fifteen letters"])
def test_a_short_token_is_refused(token):
    message = refusal(LOOPBACK, 0, 1, token)
    assert message == f"the token has {len(token)} characters; write 16 at least"


def test_all_addresses_of_the_machine_are_opened_at_one_of_them():
    with inner(page) as server, AuthProxy("0.0.0.0", 0, server.port, TOKEN) as gate:
        assert gate.address.startswith(f"http://127.0.0.1:{gate.port}/?token=")
        assert asked(gate, "/")[0] == 403


def test_it_stands_on_localhost_and_on_the_newer_loopback_too():
    with inner(page) as server:
        with AuthProxy("localhost", 0, server.port) as gate:
            assert gate.address == f"http://localhost:{gate.port}/"
        if not socket.has_dualstack_ipv6():
            pytest.skip("this machine has no IPv6")
        with AuthProxy("::1", 0, server.port) as gate:
            assert gate.address == f"http://[::1]:{gate.port}/"
            with socket.create_connection(("::1", gate.port), WAIT_S) as connection:
                connection.sendall(f"GET / HTTP/1.0\r\nHost: [::1]:{gate.port}\r\n\r\n".encode())
                assert until_the_end(connection).endswith(b"GET / HTTP/1.0")
