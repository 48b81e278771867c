"""Who may come in to the cockpit, judged by the head of a request.

A web page of any site can make a browser send requests to this machine, and give this machine a
name of its own. What gives such requests away is what the browser writes into them: the ``Origin``
they come from, the ``Host`` they were sent to, and whether the answer is to be shown within another
page.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qs

HEAD_END = b"\r\n\r\n"
MOST_HEAD_BYTES = 16 * 1024
COOKIE = "kittiwake-cockpit"
HTTP_PORT = 80

_REQUEST = re.compile(r"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00-\x08\x0a-\x1f\x7f]*)")


# of an answer without scripts, which nobody is to show within a page of his own
SHUT = (
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
)


class Answer(NamedTuple):
    """What a request gets instead of the page."""

    status: HTTPStatus
    text: str
    fields: tuple[tuple[str, str], ...] = ()

    def encoded(self) -> bytes:
        """As it is sent, the last one on its connection."""
        body = f"{self.text}\n".encode()
        fields = (
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            *SHUT,
            ("Connection", "close"),
            *self.fields,
        )
        lines = [f"HTTP/1.1 {self.status} {self.status.phrase}"]
        lines += [f"{name}: {value}" for name, value in fields]
        return "\r\n".join([*lines, "", ""]).encode() + body


TOO_LARGE = Answer(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is too large."
)
TOO_SLOW = Answer(HTTPStatus.REQUEST_TIMEOUT, "The request did not come in time.")
NO_HTTP = Answer(HTTPStatus.BAD_REQUEST, "This is no request of HTTP/1.1.")
FOREIGN = Answer(HTTPStatus.FORBIDDEN, "The page of another site may not fly here.")
UNKNOWN = Answer(
    HTTPStatus.FORBIDDEN, "This cockpit wants a token. Open the address that kittiwake has printed."
)


class Head(NamedTuple):
    """The head of a request; the fields by their names in small letters."""

    target: str
    fields: Mapping[str, tuple[str, ...]]

    def said(self, field: str) -> str:
        """A field's value, empty if it is not there."""
        return ", ".join(self.fields.get(field, ()))


@dataclass(frozen=True)
class Authenticator:
    """Who comes in: with a token whoever has it, without one whoever asks for a known host.

    Attributes:
        hosts: what a request's ``Host`` may be where there is no token.
        token: what a first visit has to bring in its address.
        cookie_name: under which the browser keeps that it has been admitted.
    """

    hosts: frozenset[str]
    token: str | None = None
    cookie_name: str = COOKIE

    def answer(self, raw: bytes) -> Answer | None:
        """What to say to a request, by the bytes it begins with; None if it may come in."""
        end = raw.find(HEAD_END)
        if end < 0:
            return TOO_LARGE if len(raw) >= MOST_HEAD_BYTES else NO_HTTP
        head = head_of(raw[:end])
        if head is None or len(head.fields.get("host", ())) != 1:
            return NO_HTTP
        host = head.said("host").lower()
        if _comes_from_elsewhere(head, host):
            return FOREIGN
        return self._by_host(host) if self.token is None else self._by_token(head, self.token)

    def _by_host(self, host: str) -> Answer | None:
        if host in self.hosts:
            return None
        names = ", ".join(sorted(self.hosts))
        return Answer(HTTPStatus.FORBIDDEN, f"This cockpit answers at {names} alone.")

    def _by_token(self, head: Head, token: str) -> Answer | None:
        if _is_any_of(token, _tokens_of(head)):
            # nothing goes from one address to the next in a handshake
            return None if head.said("upgrade") else self._welcome(token)
        return None if _is_any_of(_pass(token), self._cookies_of(head)) else UNKNOWN

    def _welcome(self, token: str) -> Answer:
        """On to the address without the token, which would stay in the browser's history."""
        cookie = f"{self.cookie_name}={_pass(token)}; HttpOnly; SameSite=Strict; Path=/"
        fields = (("Location", "/"), ("Set-Cookie", cookie), ("Referrer-Policy", "no-referrer"))
        return Answer(HTTPStatus.SEE_OTHER, "Come in.", fields)

    def _cookies_of(self, head: Head) -> Iterable[str]:
        for cookie in "; ".join(head.fields.get("cookie", ())).split(";"):
            name, _, value = cookie.strip().partition("=")
            if name == self.cookie_name:
                yield value


def head_of(raw: bytes) -> Head | None:
    """The head of a request without its last, empty line; None if it is none.

    What some servers read in one way and others in another is none: fields that go on in a second
    line, lines that end in half a line end, names with a space behind them.
    """
    request, *lines = raw.decode("latin-1").split("\r\n")
    asked = _REQUEST.fullmatch(request)
    found = [_FIELD.fullmatch(line) for line in lines]
    if asked is None:
        return None
    fields: dict[str, tuple[str, ...]] = {}
    for field in found:
        if field is None:
            return None
        name = field[1].lower()
        fields[name] = (*fields.get(name, ()), field[2].strip(" \t"))
    return Head(asked[2], fields)


def hosts_of(names: Iterable[str], port: int) -> frozenset[str]:
    """What a browser writes as ``Host`` for these names, which leaves the usual port out."""
    shown = [f"[{name}]" if ":" in name else name.lower() for name in names]
    usual = shown if port == HTTP_PORT else []
    return frozenset([*usual, *(f"{name}:{port}" for name in shown)])


def _comes_from_elsewhere(head: Head, host: str) -> bool:
    own = {f"http://{host}", f"https://{host}"}
    if any(origin.lower() not in own for origin in head.fields.get("origin", ())):
        return True
    # another site may lead to the page, but not show it within its own
    site, shown_as = head.said("sec-fetch-site"), head.said("sec-fetch-dest")
    return site not in ("", "none", "same-origin") and shown_as != "document"


def _tokens_of(head: Head) -> list[str]:
    return parse_qs(head.target.partition("?")[2]).get("token", [])


def _pass(token: str) -> str:
    """What a cookie holds for a token: any token as letters and digits, and not the secret itself.

    A browser sends a cookie to all ports of a host.
    """
    return hmac.new(token.encode(), COOKIE.encode(), sha256).hexdigest()


def _is_any_of(secret: str, given: Iterable[str]) -> bool:
    return any(hmac.compare_digest(secret.encode(), one.encode()) for one in given)
