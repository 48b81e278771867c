"""Opening of the page by a command: other local users cannot see the token."""

import stat
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from kittiwake.cli import page as page_module
from kittiwake.cli.page import PageOptions, announced, open_site
from kittiwake.cli.token_file import read_token

TOKEN = "a secret of the cockpit"


@pytest.fixture
def opened(monkeypatch):
    """Targets that the browser opens."""
    found = []
    monkeypatch.setattr(page_module, "has_desktop", lambda: True)
    monkeypatch.setattr(page_module.webbrowser, "open", found.append)
    return found


@pytest.fixture
def token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    return file


@contextmanager
def shown(token_file):
    page = PageOptions(0, "127.0.0.1", token_file, browser=True, quiet=True)
    with open_site(page) as site, announced(site.address, page):
        yield


def test_the_token_is_not_in_the_browser_command_line(opened, token_file):
    with shown(token_file):
        (target,) = opened
        assert "secret" not in target
        file = Path(url2pathname(urlsplit(target).path))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert "?token=a%20secret%20of%20the%20cockpit" in file.read_text()
    assert not file.exists()


def test_without_a_token_the_browser_opens_the_address(opened):
    with shown(None):
        assert opened[0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_file_readable_by_others_gives_a_warning(token_file, capsys, mode, warned):
    token_file.chmod(mode)
    assert read_token(token_file) == TOKEN
    assert (f"chmod 600 {token_file}" in capsys.readouterr().err) == warned
