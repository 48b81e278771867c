"""Authentication of requests by their heads, and invalid heads."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kittiwake.cockpit.auth import MAX_HEAD_BYTES, Authenticator, allowed_hosts, parse_head

OPEN = Authenticator(allowed_hosts(["127.0.0.1", "localhost", "::1"], 8080))
TOKEN = "sesam, öffne dich + bitte"
WRITTEN = "sesam%2C%20%C3%B6ffne%20dich%20%2B%20bitte"
LOCKED = Authenticator(frozenset(), TOKEN)


def request(target="/", host="127.0.0.1:8080", **fields):
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def status(authenticator, raw):
    response = authenticator.respond(raw)
    return None if response is None else int(response.status)


def cookie():
    """Return the cookie set by a first request with the token."""
    (kept,) = [
        value
        for name, value in LOCKED.respond(request(f"/?token={WRITTEN}")).fields
        if name == "Set-Cookie"
    ]
    return kept.partition(";")[0]


# without a token: by host


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"]
)
def test_local_host_names_are_admitted(host):
    assert status(OPEN, request(host=host)) is None


@pytest.mark.parametrize(
    "host",
    ["gulls.example:8080", "127.0.0.1", "127.0.0.1:8081", "localhost.gulls.example:8080", "", "*"],
)
def test_other_host_names_are_refused_with_the_allowed_ones(host):
    response = OPEN.respond(request(host=host))
    assert response.status == 403
    assert "127.0.0.1:8080, [::1]:8080, localhost:8080" in response.text


def test_port_80_may_be_omitted():
    usual = Authenticator(allowed_hosts(["localhost"], 80))
    assert status(usual, request(host="localhost")) is None
    assert status(usual, request(host="localhost:80")) is None


# origin of requests


def test_same_origin_requests_are_admitted():
    for scheme in ("http", "https"):  # https behind a tunnel
        origin = f"{scheme}://127.0.0.1:8080"
        assert status(OPEN, request(Origin=origin, Upgrade="websocket")) is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://gulls.example",
        "http://127.0.0.1:8081",
        "http://localhost:8080",
        "http://127.0.0.1:8080.gulls.example",
        "null",
        "",
    ],
)
def test_cross_origin_requests_are_refused_even_with_the_token(origin):
    assert status(OPEN, request(Origin=origin)) == 403
    assert status(LOCKED, request(f"/?token={WRITTEN}", Origin=origin)) == 403
    assert status(LOCKED, request(Origin=origin, Cookie=cookie())) == 403


def test_another_site_may_link_to_the_page_but_not_frame_it():
    for site in ("cross-site", "same-site"):
        fields = {"Sec_Fetch_Site": site}
        assert status(OPEN, request(**fields, Sec_Fetch_Dest="document")) is None
        for shown_as in ("iframe", "script", "empty", "websocket"):
            assert status(OPEN, request(**fields, Sec_Fetch_Dest=shown_as)) == 403
    for site in ("none", "same-origin"):
        assert status(OPEN, request(Sec_Fetch_Site=site, Sec_Fetch_Dest="websocket")) is None


# with a token


def test_a_request_with_the_token_is_redirected_to_an_address_without_it():
    response = LOCKED.respond(request(f"/?a=1&token={WRITTEN}", host="anything"))
    fields = dict(response.fields)
    assert (response.status, fields["Location"]) == (303, "/")
    kept, *attributes = fields["Set-Cookie"].split("; ")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert kept.startswith("kittiwake-cockpit=")


def test_the_cookie_is_alphanumeric_and_not_the_token():
    value = cookie().partition("=")[2]
    assert value.isalnum()
    assert value.isascii()
    assert "sesam" not in value


def test_the_cookie_authenticates_later_requests():
    assert status(LOCKED, request(Cookie=cookie())) is None
    assert status(LOCKED, request(Cookie=f"theme=dark; {cookie()};x=y")) is None
    # also if the address is opened again with a wrong token
    assert status(LOCKED, request("/?token=wrong", Cookie=cookie())) is None


def test_a_websocket_handshake_may_contain_the_token():
    assert status(LOCKED, request(f"/?token={WRITTEN}", Upgrade="websocket")) is None


@pytest.mark.parametrize("given", ["", "?token=", "?token=sesam", "?tok=1", "?token", "?token=%ff"])
def test_a_missing_or_wrong_token_is_refused_with_a_hint(given):
    response = LOCKED.respond(request(f"/{given}"))
    assert response.status == 403
    assert "Open the address that kittiwake printed" in response.text
    assert TOKEN not in response.text


@pytest.mark.parametrize("given", ["kittiwake-cockpit=", "kittiwake-cockpit", "x=y", "", "ö=ö"])
def test_other_cookies_are_refused(given):
    assert status(LOCKED, request(Cookie=given)) == 403


def test_the_token_is_no_valid_cookie_and_the_cookie_no_valid_token():
    plain = Authenticator(frozenset(), "abcdefghijklmnop")
    assert status(plain, request(Cookie="kittiwake-cockpit=abcdefghijklmnop")) == 403
    assert status(LOCKED, request(f"/?token={cookie().partition('=')[2]}")) == 403


# invalid requests


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: 127.0.0.1:8080\r\n\r\n",
        b"get / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
        b"GET http://127.0.0.1:8080/ HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nHost: 127.0.0.1:8080\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : 127.0.0.1:8080\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n Origin: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\nOrigin: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n",
        b"",
    ],
)
def test_invalid_requests_are_bad_requests(raw):
    assert status(OPEN, raw) == 400


def test_a_head_without_an_end_is_too_large():
    assert status(OPEN, request()[:-2] + b"X: y\r\n" * MAX_HEAD_BYTES) == 431


def test_field_names_are_case_insensitive():
    head = parse_head(b"GET /a?b HTTP/1.0\r\nHOST:\t x \r\naccept: 1\r\nAccept: 2")
    assert head.target == "/a?b"
    assert head.fields == {"host": ("x",), "accept": ("1", "2")}


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_arbitrary_bytes_raise_no_error(before, after):
    OPEN.respond(before + b"\r\n\r\n" + after)
    LOCKED.respond(b"GET /?token=" + before + b" HTTP/1.1\r\nHost: a\r\nCookie: " + after)
    LOCKED.respond(b"GET /" + before + b" HTTP/1.1\r\nHost: a\r\nCookie: " + after + b"\r\n\r\n")


@pytest.mark.parametrize("filling", [b" ", b"&", b"\t", b";", b"\r\na:", b"a", b"%f"])
def test_long_heads_are_checked_in_linear_time(filling):
    # a regular expression may take the square of the length; a thousand times this would be seen
    filler = (filling * MAX_HEAD_BYTES)[:MAX_HEAD_BYTES]
    started_s = time.process_time()
    for raw in (
        b"GET / HTTP/1.1\r\nHost: a\r\nCookie:" + filler + b"\x00\r\n\r\n",
        b"GET /?" + filler + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET " + filler + b"\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    ):
        LOCKED.respond(raw)
    assert time.process_time() - started_s < 0.2


# in frames of other pages

FRAMED = Authenticator(OPEN.hosts, framed=True)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("shown_as", "wanted"), [("iframe", None), ("empty", 403), ("script", 403)]
)
def test_only_a_page_that_may_be_framed_is_sent_to_frames(site, shown_as, wanted):
    raw = request(sec_fetch_site=site, sec_fetch_dest=shown_as)
    assert status(FRAMED, raw) == wanted
    assert status(OPEN, raw) == 403


def test_a_page_that_may_be_framed_still_refuses_other_origins_and_hosts():
    assert status(FRAMED, request(origin="http://gulls.example", sec_fetch_dest="iframe")) == 403
    assert status(FRAMED, request(host="gulls.example:8080", sec_fetch_dest="iframe")) == 403
