"""Who may come in, judged by a request's head alone; and what is no head."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kittiwake.cockpit.auth import MOST_HEAD_BYTES, Authenticator, head_of, hosts_of

OPEN = Authenticator(hosts_of(["127.0.0.1", "localhost", "::1"], 8080))
TOKEN = "sesam, öffne dich + bitte"
WRITTEN = "sesam%2C%20%C3%B6ffne%20dich%20%2B%20bitte"
LOCKED = Authenticator(frozenset(), TOKEN)


def request(target="/", host="127.0.0.1:8080", **fields):
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def status(admission, raw):
    answer = admission.answer(raw)
    return None if answer is None else int(answer.status)


def cookie():
    """What a browser has kept of a first visit with the token."""
    (kept,) = [
        value
        for name, value in LOCKED.answer(request(f"/?token={WRITTEN}")).fields
        if name == "Set-Cookie"
    ]
    return kept.partition(";")[0]


# without a token: by the host


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"]
)
def test_a_name_of_this_machine_may_come_in(host):
    assert status(OPEN, request(host=host)) is None


@pytest.mark.parametrize(
    "host",
    ["gulls.example:8080", "127.0.0.1", "127.0.0.1:8081", "localhost.gulls.example:8080", "", "*"],
)
def test_any_other_name_is_sent_away_and_told_the_right_ones(host):
    answer = OPEN.answer(request(host=host))
    assert answer.status == 403
    assert "127.0.0.1:8080, [::1]:8080, localhost:8080" in answer.text


def test_the_usual_port_need_not_be_named():
    usual = Authenticator(hosts_of(["localhost"], 80))
    assert status(usual, request(host="localhost")) is None
    assert status(usual, request(host="localhost:80")) is None


# whose page asks


def test_a_page_of_the_same_address_may_ask():
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
def test_a_page_of_another_address_may_not_even_with_the_token(origin):
    assert status(OPEN, request(Origin=origin)) == 403
    assert status(LOCKED, request(f"/?token={WRITTEN}", Origin=origin)) == 403
    assert status(LOCKED, request(Origin=origin, Cookie=cookie())) == 403


def test_another_site_may_lead_here_but_not_show_the_page_within_its_own():
    for site in ("cross-site", "same-site"):
        fields = {"Sec_Fetch_Site": site}
        assert status(OPEN, request(**fields, Sec_Fetch_Dest="document")) is None
        for shown_as in ("iframe", "script", "empty", "websocket"):
            assert status(OPEN, request(**fields, Sec_Fetch_Dest=shown_as)) == 403
    for site in ("none", "same-origin"):
        assert status(OPEN, request(Sec_Fetch_Site=site, Sec_Fetch_Dest="websocket")) is None


# with a token


def test_who_brings_the_token_is_led_to_an_address_without_it():
    answer = LOCKED.answer(request(f"/?a=1&token={WRITTEN}", host="anything"))
    fields = dict(answer.fields)
    assert (answer.status, fields["Location"]) == (303, "/")
    kept, *attributes = fields["Set-Cookie"].split("; ")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert kept.startswith("kittiwake-cockpit=")


def test_the_cookie_holds_no_secret_and_nothing_that_a_cookie_may_not():
    value = cookie().partition("=")[2]
    assert value.isalnum()
    assert value.isascii()
    assert "sesam" not in value


def test_the_cookie_of_a_first_visit_lets_in_after_that():
    assert status(LOCKED, request(Cookie=cookie())) is None
    assert status(LOCKED, request(Cookie=f"theme=dark; {cookie()};x=y")) is None
    # and still where the address is opened again with a token that was changed by mistake
    assert status(LOCKED, request("/?token=wrong", Cookie=cookie())) is None


def test_a_program_may_bring_the_token_in_the_handshake_itself():
    assert status(LOCKED, request(f"/?token={WRITTEN}", Upgrade="websocket")) is None


@pytest.mark.parametrize("given", ["", "?token=", "?token=sesam", "?tok=1", "?token", "?token=%ff"])
def test_who_brings_none_or_another_is_told_where_to_look(given):
    answer = LOCKED.answer(request(f"/{given}"))
    assert answer.status == 403
    assert "Open the address that kittiwake has printed" in answer.text
    assert TOKEN not in answer.text


@pytest.mark.parametrize("given", ["kittiwake-cockpit=", "kittiwake-cockpit", "x=y", "", "ö=ö"])
def test_another_cookie_does_not_let_in(given):
    assert status(LOCKED, request(Cookie=given)) == 403


def test_the_secret_itself_is_no_cookie_and_the_cookie_no_token():
    plain = Authenticator(frozenset(), "abcdefghijklmnop")
    assert status(plain, request(Cookie="kittiwake-cockpit=abcdefghijklmnop")) == 403
    assert status(LOCKED, request(f"/?token={cookie().partition('=')[2]}")) == 403


# what is no request


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
def test_what_is_no_request_is_a_bad_one(raw):
    assert status(OPEN, raw) == 400


def test_a_head_without_an_end_is_too_large():
    assert status(OPEN, request()[:-2] + b"X: y\r\n" * MOST_HEAD_BYTES) == 431


def test_fields_are_found_however_their_names_are_written():
    head = head_of(b"GET /a?b HTTP/1.0\r\nHOST:\t x \r\naccept: 1\r\nAccept: 2")
    assert head.target == "/a?b"
    assert head.fields == {"host": ("x",), "accept": ("1", "2")}


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_upset_it(before, after):
    OPEN.answer(before + b"\r\n\r\n" + after)
    LOCKED.answer(b"GET /?token=" + before + b" HTTP/1.1\r\nHost: a\r\nCookie: " + after)
    LOCKED.answer(b"GET /" + before + b" HTTP/1.1\r\nHost: a\r\nCookie: " + after + b"\r\n\r\n")


@pytest.mark.parametrize("filling", [b" ", b"&", b"\t", b";", b"\r\na:", b"a", b"%f"])
def test_no_head_takes_long_to_judge(filling):
    # a regular expression may take the square of the length; a thousand times this would be seen
    filler = (filling * MOST_HEAD_BYTES)[:MOST_HEAD_BYTES]
    started_s = time.process_time()
    for raw in (
        b"GET / HTTP/1.1\r\nHost: a\r\nCookie:" + filler + b"\x00\r\n\r\n",
        b"GET /?" + filler + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET " + filler + b"\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    ):
        LOCKED.answer(raw)
    assert time.process_time() - started_s < 0.2
