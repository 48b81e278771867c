"""Title and icon of the page in the browser's tab, in place of those of viser."""

import gzip
import re
from functools import lru_cache
from urllib.parse import quote

from websockets.http11 import Response

from kittiwake.cockpit.start_page import ASSETS, ICON

TITLE = "Kittiwake"
# a gull in flight
ICON_FILE = ASSETS / ICON
GZIP = "gzip"

_TITLE = re.compile(rb"<title>[^<]*</title>")
_ICON = re.compile(rb'(<link\s+rel="icon"\s+href=")[^"]*(")')


def set_title_and_icon(response: Response) -> None:
    """Replace the title and the icon of an HTML page."""
    headers = response.headers
    if headers.get("Content-Type", "").startswith("text/html"):
        response.body = _branded(bytes(response.body), headers.get("Content-Encoding") == GZIP)
        del headers["Content-Length"]
        headers["Content-Length"] = str(len(response.body))


# the same page for all browsers, which may accept compression or not
@lru_cache(maxsize=2)
def _branded(body: bytes, is_compressed: bool) -> bytes:  # noqa: FBT001  key of the cache
    page = gzip.decompress(body) if is_compressed else body
    icon = b"data:image/svg+xml," + quote(ICON_FILE.read_bytes()).encode()
    page = _TITLE.sub(f"<title>{TITLE}</title>".encode(), page, count=1)
    page = _ICON.sub(lambda found: found[1] + icon + found[2], page, count=1)
    return gzip.compress(page) if is_compressed else page
