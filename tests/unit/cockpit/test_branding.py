"""Title and icon of the page."""

import gzip
import urllib.request

import pytest

pytest.importorskip("viser")

from kittiwake.cockpit.auth_proxy import PASS_HEADER
from kittiwake.cockpit.server import PageServer


@pytest.fixture(scope="module")
def server():
    server = PageServer()
    yield server
    server.stop()


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_the_page_has_its_own_title_and_icon(server, encoding):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.get_port()}/",
        headers={PASS_HEADER: server.secret, "Accept-Encoding": encoding},
    )
    with urllib.request.urlopen(request) as response:
        body = response.read()
        assert len(body) == int(response.headers["Content-Length"])
        assert response.headers["Content-Encoding"] == encoding
        assert "img-src 'self' data: blob:" in response.headers["Content-Security-Policy"]
    page = gzip.decompress(body) if encoding == "gzip" else body
    assert b"<title>Kittiwake</title>" in page
    assert b"Viser</title>" not in page
    assert b'href="data:image/svg+xml,%3Csvg%20' in page
