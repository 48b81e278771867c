"""Authentication of requests to the cockpit by their HTTP heads.

A web page of any site can make a browser send requests to this machine, and can give this machine
a host name of its own (DNS rebinding). Such requests are recognized by header fields that the
browser writes itself: the ``Origin`` they come from, the ``Host`` they were sent to, and whether
the response will be shown in a frame of another page.
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
MAX_HEAD_BYTES = 16 * 1024
COOKIE = "kittiwake-cockpit"
HTTP_PORT = 80

_REQUEST = re.compile(r"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00-\x08\x0a-\x1f\x7f]*)")


# headers of a response without scripts that no other page may show in a frame
SECURITY_HEADERS = (
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
)


class AuthResponse(NamedTuple):
    """HTTP response to a request that is not forwarded to the page server."""

    status: HTTPStatus
    text: str
    fields: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """Return the bytes of the response, which closes its connection."""
        body = f"{self.text}\n".encode()
        fields = (
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            *SECURITY_HEADERS,
            ("Connection", "close"),
            *self.fields,
        )
        lines = [f"HTTP/1.1 {self.status} {self.status.phrase}"]
        lines += [f"{name}: {value}" for name, value in fields]
        return "\r\n".join([*lines, "", ""]).encode() + body


TOO_LARGE = AuthResponse(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The request header is too large."
)
TOO_SLOW = AuthResponse(HTTPStatus.REQUEST_TIMEOUT, "The request did not arrive in time.")
NOT_HTTP = AuthResponse(HTTPStatus.BAD_REQUEST, "Not an HTTP/1.1 request.")
CROSS_SITE = AuthResponse(
    HTTPStatus.FORBIDDEN, "Requests from pages of other sites are not allowed."
)
TOKEN_REQUIRED = AuthResponse(
    HTTPStatus.FORBIDDEN, "This cockpit requires a token. Open the address that kittiwake printed."
)


class RequestHead(NamedTuple):
    """Request target and header fields by lower-case name."""

    target: str
    fields: Mapping[str, tuple[str, ...]]

    def field(self, field: str) -> str:
        """Return the value of a header field; empty if it is missing."""
        return ", ".join(self.fields.get(field, ()))


@dataclass(frozen=True)
class Authenticator:
    """Check of requests: by token if there is one, else by the requested host.

    Attributes:
        hosts: allowed values of the ``Host`` field if there is no token.
        token: secret that the first request carries in its address.
        cookie_name: name of the cookie that authenticates later requests.
        framed: True if other pages may ask for the page to show it in a frame; the header of the
            page then names those that may.
    """

    hosts: frozenset[str]
    token: str | None = None
    cookie_name: str = COOKIE
    framed: bool = False

    def respond(self, raw: bytes) -> AuthResponse | None:
        """Return the response to a request by its first bytes; None if it is admitted."""
        end = raw.find(HEAD_END)
        if end < 0:
            return TOO_LARGE if len(raw) >= MAX_HEAD_BYTES else NOT_HTTP
        head = parse_head(raw[:end])
        if head is None or len(head.fields.get("host", ())) != 1:
            return NOT_HTTP
        host = head.field("host").lower()
        if _is_cross_site(head, host, framed=self.framed):
            return CROSS_SITE
        return self._by_host(host) if self.token is None else self._by_token(head, self.token)

    def _by_host(self, host: str) -> AuthResponse | None:
        if host in self.hosts:
            return None
        names = ", ".join(sorted(self.hosts))
        return AuthResponse(HTTPStatus.FORBIDDEN, f"This cockpit is served only at {names}.")

    def _by_token(self, head: RequestHead, token: str) -> AuthResponse | None:
        if _matches_any(token, _tokens_in(head)):
            # a WebSocket handshake cannot be redirected
            return None if head.field("upgrade") else self._redirect(token)
        return (
            None if _matches_any(_cookie_value(token), self._cookies_in(head)) else TOKEN_REQUIRED
        )

    def _redirect(self, token: str) -> AuthResponse:
        """Return a redirect to the address without the token, which the history would keep."""
        cookie = f"{self.cookie_name}={_cookie_value(token)}; HttpOnly; SameSite=Strict; Path=/"
        fields = (("Location", "/"), ("Set-Cookie", cookie), ("Referrer-Policy", "no-referrer"))
        return AuthResponse(HTTPStatus.SEE_OTHER, "Redirecting.", fields)

    def _cookies_in(self, head: RequestHead) -> Iterable[str]:
        for cookie in "; ".join(head.fields.get("cookie", ())).split(";"):
            name, _, value = cookie.strip().partition("=")
            if name == self.cookie_name:
                yield value


def parse_head(raw: bytes) -> RequestHead | None:
    """Parse a request head without its final empty line; return None if it is invalid.

    Heads that servers interpret differently are invalid: folded fields, line ends without
    carriage return or line feed, names followed by a space.
    """
    request, *lines = raw.decode("latin-1").split("\r\n")
    request_line = _REQUEST.fullmatch(request)
    found = [_FIELD.fullmatch(line) for line in lines]
    if request_line is None:
        return None
    fields: dict[str, tuple[str, ...]] = {}
    for field in found:
        if field is None:
            return None
        name = field[1].lower()
        fields[name] = (*fields.get(name, ()), field[2].strip(" \t"))
    return RequestHead(request_line[2], fields)


def allowed_hosts(names: Iterable[str], port: int) -> frozenset[str]:
    """Return the ``Host`` values of browsers for host names; port 80 may be omitted."""
    shown = [f"[{name}]" if ":" in name else name.lower() for name in names]
    without_port = shown if port == HTTP_PORT else []
    return frozenset([*without_port, *(f"{name}:{port}" for name in shown)])


def _is_cross_site(head: RequestHead, host: str, *, framed: bool) -> bool:
    own = {f"http://{host}", f"https://{host}"}
    if any(origin.lower() not in own for origin in head.fields.get("origin", ())):
        return True
    # another site may link to the page, but show it in a frame only if that was asked for
    site, shown_as = head.field("sec-fetch-site"), head.field("sec-fetch-dest")
    shown = ("document", "iframe") if framed else ("document",)
    return site not in ("", "none", "same-origin") and shown_as not in shown


def _tokens_in(head: RequestHead) -> list[str]:
    return parse_qs(head.target.partition("?")[2]).get("token", [])


def _cookie_value(token: str) -> str:
    """Return the cookie value of a token: an alphanumeric digest, not the secret itself.

    A browser sends a cookie to all ports of a host.
    """
    return hmac.new(token.encode(), COOKIE.encode(), sha256).hexdigest()


def _matches_any(secret: str, given: Iterable[str]) -> bool:
    return any(hmac.compare_digest(secret.encode(), one.encode()) for one in given)
