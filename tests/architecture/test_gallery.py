"""The gallery of the documentation shows exactly the pictures that its script draws."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gallery.md").read_text("utf-8")
IMAGES = ROOT / "docs" / "images" / "gallery"
SHOWN = re.compile(
    r"^!\[[^]]*\]\(images/gallery/([\w-]+)\.png\)\n\n```bash\n(.*?)\n```", re.M | re.S
)
MAX_BYTES = 4_000_000


def drawn():
    """The pictures of the script, and the commands that make each."""
    script = ast.parse((ROOT / "scripts" / "pictures").read_text("utf-8"))
    (table,) = (
        ast.literal_eval(node.value)
        for node in script.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GALLERY"
    )
    return {name: commands for name, (_, *commands) in table.items()}


def test_each_picture_is_shown_above_the_commands_that_draw_it():
    shown = {name: commands.split("\n") for name, commands in SHOWN.findall(PAGE)}
    assert shown == drawn()
    assert PAGE.count("![") == len(shown)


def test_the_folder_has_these_pictures_and_they_are_small():
    files = [*IMAGES.iterdir()]
    assert {file.stem for file in files} == set(drawn())
    assert sum(file.stat().st_size for file in files) < MAX_BYTES
