"""``kittiwake export`` of logs that other programs recorded."""

import csv

import pytest
from tests.system.commands import kittiwake_does

ROWS = "t_ms,throttle,height\n0,10,\n100,20,1\n200,30,2\n300,40,3\n"
TABLE = """\
time: {column: t_ms, unit: ms}
columns:
  z_m: height
  cmd_throttle: {column: throttle, unit: "%"}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "flight.csv").write_text(ROWS)
    (tmp_path / "table.yaml").write_text(TABLE)
    return tmp_path / "flight.csv", "--columns", tmp_path / "table.yaml"


def test_a_log_becomes_one_csv_file_of_own_columns(files, tmp_path):
    answer = kittiwake_does("export", *files, "--to", "csv", "-o", tmp_path / "own.csv")
    assert (answer.status, answer.out) == (0, f"wrote {tmp_path / 'own.csv'}\n")
    assert answer.err == "Warning: flight.csv: 1 samples of 'z_m' are left out.\n"
    with (tmp_path / "own.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["time_s", "z_m", "cmd_throttle"]
    expected = [[0.1, 1.0, 0.2], [0.2, 2.0, 0.3], [0.3, 3.0, 0.4]]
    assert [[float(cell) for cell in row] for row in rows] == [
        pytest.approx(row) for row in expected
    ]


def test_a_log_has_rows_at_a_given_rate(files, tmp_path):
    options = ("--to", "csv", "--rate", "20", "-o", tmp_path / "own.csv")
    assert kittiwake_does("export", *files, *options).status == 0
    lines = (tmp_path / "own.csv").read_text().splitlines()
    assert len(lines) == 6
    assert [float(cell) for cell in lines[2].split(",")] == pytest.approx([0.15, 1.5, 0.2])


def test_a_log_becomes_a_parquet_file_beside_it(files, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    answer = kittiwake_does("export", *files, "--to", "parquet")
    assert answer.status == 0
    table = parquet.read_table(tmp_path / "flight.parquet")
    assert table.column_names == ["vehicle", "time_s", "z_m", "cmd_throttle"]
    assert table["vehicle"][0].as_py() == "flight"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to", "csv"), "is read and cannot be written. Name another file with -o."),
        (("--to", "mat"), "`--to`: got mat; a file, `--columns` and `--rate` are only allowed"),
        (("--to", "csv", "--cell", "2"), "`--cell` and `--fill`: only allowed with --to geotiff"),
    ],
)
def test_wrong_options_are_bad_input(files, options, message):
    answer = kittiwake_does("export", *files, *options)
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err


def test_a_mistake_in_a_table_is_bad_input(files, tmp_path):
    (tmp_path / "table.yaml").write_text(TABLE.replace("z_m:", "z_mm:"))
    answer = kittiwake_does("export", *files, "--to", "csv", "-o", tmp_path / "own.csv")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(
        "table.yaml:3: columns.z_mm: not a column of Kittiwake; write z_m: {column: "
    )
