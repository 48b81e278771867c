"""HTML of notebooks: complete, escaped, and without colors."""

from html.parser import HTMLParser

import pytest

from kittiwake.core.html import MAX_ROWS, column_table, fact_table, frame, heading

SCRIPT = "<script>alert('gull')</script>"


class Tags(HTMLParser):
    """Opened tags that are not closed yet, and all that were seen."""

    def __init__(self, html):
        super().__init__()
        self.seen, self.open = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    "html",
    [
        heading(SCRIPT, SCRIPT, SCRIPT),
        fact_table({SCRIPT: SCRIPT}),
        column_table((SCRIPT, SCRIPT), [(SCRIPT, SCRIPT)]),
        frame(f'"{SCRIPT}', 100),
    ],
    ids=["heading", "facts", "columns", "frame"],
)
def test_text_is_escaped_and_tags_are_closed(html):
    tags = Tags(html)
    assert "script" not in tags.seen
    assert tags.open == []


def test_empty_facts_are_left_out_but_zero_is_not():
    assert "seed" in fact_table({"seed": 0})
    assert "seed" not in fact_table({"seed": None}) + fact_table({"seed": ""})


def test_long_tables_are_cut_and_count_the_rest():
    html = column_table(("vehicle", "m"), [(f"gull-{i}", i) for i in range(MAX_ROWS + 1200)])
    assert Tags(html).seen.count("tr") == MAX_ROWS + 1
    assert "and 1,200 more" in html


def test_lines_of_a_cell_are_kept():
    assert "a+<br>b" in column_table(("", "a+\nb"), [])


def test_tables_have_no_colors():
    html = heading("Log", "gull") + fact_table({"seed": 0}) + column_table(("a", "b"), [(1, 2)])
    assert "color" not in html
    assert "background" not in html
