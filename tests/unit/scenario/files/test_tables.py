"""Recorded tables: times of the rows, end of the file, and error messages."""

import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.files import tables
from kittiwake.scenario.files.tables import read_table


def table(tmp_path, text):
    path = tmp_path / "inputs.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path)


def refusal(tmp_path, text):
    with pytest.raises(ScenarioError) as refused:
        table(tmp_path, text)
    return str(refused.value)


def test_columns_times_and_values_are_those_of_the_file(tmp_path):
    read = table(tmp_path, "time_s, a ,b\n0,1,2\n0.5,3e-1,-4\n1.5,5,6\n")
    assert read.columns == ("a", "b")
    assert read.source == "inputs.csv"
    np.testing.assert_array_equal(read.time_s, [0.0, 0.5, 1.5])
    np.testing.assert_array_equal(read.values, [[1.0, 2.0], [0.3, -4.0], [5.0, 6.0]])


def test_the_last_row_holds_as_long_as_the_one_before_it(tmp_path):
    assert table(tmp_path, "time_s,a\n0,1\n0.5,2\n1.5,3\n").end_s == 2.5


def test_a_single_row_ends_where_it_begins(tmp_path):
    assert table(tmp_path, "time_s,a\n2,1\n").end_s == 2.0


@pytest.mark.parametrize("last", ["7,,", "7"])
def test_a_row_without_values_says_when_those_before_it_end(last, tmp_path):
    read = table(tmp_path, f"time_s,a,b\n0,1,2\n0.5,3,4\n{last}\n")
    assert read.end_s == 7.0
    np.testing.assert_array_equal(read.time_s, [0.0, 0.5])
    np.testing.assert_array_equal(read.values, [[1.0, 2.0], [3.0, 4.0]])


def test_empty_lines_and_windows_line_ends_are_passed_over(tmp_path):
    (tmp_path / "inputs.csv").write_bytes(b"time_s,a\r\n0,1\r\n\r\n1,2\r\n")
    np.testing.assert_array_equal(read_table(tmp_path / "inputs.csv").values, [[1.0], [2.0]])


def test_a_mark_of_byte_order_is_passed_over(tmp_path):
    (tmp_path / "inputs.csv").write_bytes("\ufefftime_s,a\n0,1\n".encode())
    assert read_table(tmp_path / "inputs.csv").columns == ("a",)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a,time_s", "the first column must be named 'time_s'; it is 'a'"),
        ("time_s", "there must be a column beside 'time_s'"),
        ("time_s,a,a", "two columns are named 'a'"),
        ("", "the first column must be named 'time_s'; the line is empty"),
    ],
)
def test_names_other_than_time_first_and_each_once_are_refused(header, expected, tmp_path):
    row = ",".join("0" for _ in header.split(",")) if header else "0"
    assert refusal(tmp_path, f"{header}\n{row}\n") == f"inputs.csv:1: {expected}"


@pytest.mark.parametrize(
    ("rows", "place", "expected"),
    [
        ("0,1\n1,x\n", "inputs.csv:3", "a: 'x' is not a number"),
        ("0,1\nnoon,2\n", "inputs.csv:3", "time_s: 'noon' is not a number"),
        ("0,1\n1,2,3\n", "inputs.csv:3", "3 values below 2 names"),
        ("0,x\n1,2,3\n", "inputs.csv:2", "a: 'x' is not a number"),
        ("0,nan\n1,2\n", "inputs.csv:2", "a must be a finite number"),
        ("0,1\n1,inf\n2,3\n", "inputs.csv:3", "finite"),
        ("0,1\n1,\n2,3\n", "inputs.csv:3", "finite"),
        ("0,1\n2,1\n1,1\n", "inputs.csv:4", "increase"),
        ("0,1\n0,1\n", "inputs.csv:3", "increase"),
        ("nan,1\n", "inputs.csv:2", "time_s must be a finite number"),
        ("0,1\n2,1\n1,\n", "inputs.csv:4", "increase"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(rows, place, expected, tmp_path):
    message = refusal(tmp_path, f"time_s,a\n{rows}")
    assert message.startswith(f"{place}: ")
    assert expected in message


def test_empty_lines_do_not_shift_the_line_of_a_bad_value(tmp_path):
    assert refusal(tmp_path, "time_s,a\n0,1\n\n\n1,inf\n").startswith("inputs.csv:5: ")


def test_a_file_that_is_missing_or_a_folder_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="No such file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(ScenarioError, match="directory"):
        read_table(tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "inputs.csv").write_bytes(b"time_s,a\n0,\xff\xfe\n")
    with pytest.raises(ScenarioError, match="not a table of comma-separated numbers"):
        read_table(tmp_path / "inputs.csv")


def test_a_file_larger_than_the_limit_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MAX_BYTES", 2**20)
    (tmp_path / "inputs.csv").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(ScenarioError, match=r"inputs.csv: larger than 1 MiB"):
        read_table(tmp_path / "inputs.csv")


def test_a_header_of_many_names_is_looked_through_once(tmp_path):
    names = [f"column_{number}" for number in range(100_000)]
    text = ",".join(["time_s", *names]) + "\n" + ",".join(["0"] * 100_001) + "\n"
    (tmp_path / "wide.csv").write_text(text)
    assert read_table(tmp_path / "wide.csv").columns == tuple(names)
    (tmp_path / "twice.csv").write_text(text.replace("column_99999", "column_7"))
    with pytest.raises(ScenarioError, match="two columns are named 'column_7'"):
        read_table(tmp_path / "twice.csv")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0.5,nan", "3: x_m must be a finite number"),
        ("0.5,", "3: x_m must be a finite number"),
        ("nan,1", "3: time_s must be a finite number"),
        ("-1,1", "3: time_s must increase from row to row"),
    ],
)
def test_mistake_is_reported_before_the_rest_of_a_long_file_is_read(
    line, expected, tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "BLOCK_CELLS", 20)
    rows = "".join(f"{number},1\n" for number in range(1, 100))
    (tmp_path / "long.csv").write_text(f"time_s,x_m\n0,1\n{line}\n{rows}100,no number\n")
    with pytest.raises(ScenarioError, match=expected):
        read_table(tmp_path / "long.csv")


@pytest.mark.parametrize("rows", [1, 2, 9, 10, 11, 20, 21])
def test_a_last_row_says_the_end_wherever_a_block_ends(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_CELLS", 20)
    text = "".join(f"{number},{number}\n" for number in range(rows))
    (tmp_path / "ends.csv").write_text(f"time_s,x_m\n{text}50,\n")
    table = read_table(tmp_path / "ends.csv")
    assert table.end_s == 50.0
    assert table.values[:, 0].tolist() == list(range(rows))
