"""Pages of estimates: what is drawn, and of which vehicles."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kittiwake.analysis.consistency import ERRORS, consistency, nees, nees_bounds, nees_of
from kittiwake.analysis.log import Log
from kittiwake.analysis.plots import draw_overview
from kittiwake.analysis.plots.estimated_quantities import estimated_quantities, share_within
from kittiwake.analysis.plots.estimation import draw_estimation_pages, save_estimation_pages
from kittiwake.analysis.plots.quantities import DEVIATIONS
from kittiwake.analysis.plots.style import INK, PAPER
from kittiwake.analysis.table import Q_WORLD_FROM_BODY, Table

ROWS = 1200
RATE_HZ = 20.0
PAIRS = [(i, j) for i in range(9) for j in range(i, 9)]
# standard deviations of position, velocity and rotation, small enough for linear angles
SIZES = np.repeat([0.5, 0.05, 0.01], 3)
STATE = ("x_m", "y_m", "z_m", "vx_mps", "vy_mps", "vz_mps")


def correlated():
    """A covariance with correlations, and errors that have it."""
    draws = np.random.default_rng(1)
    mixing = SIZES[:, None] * (np.eye(9) + 0.2 * np.tril(draws.normal(size=(9, 9)), -1))
    return mixing @ mixing.T, draws.normal(size=(ROWS, 9)) @ mixing.T


def flown(errors, covariance=None, rows=ROWS):
    """A turning flight at 5 m, estimated with these errors."""
    time_s = np.arange(rows) / RATE_HZ
    truth = [5.0 * np.sin(time_s), 5.0 * np.cos(time_s), 5.0 + 0.0 * time_s]
    truth += [5.0 * np.cos(time_s), -5.0 * np.sin(time_s), 0.0 * time_s]
    angles = np.stack([4.0 * time_s, 0.2 * np.sin(time_s), 0.2 * np.cos(time_s)], axis=1)
    attitude = Rotation.from_euler("ZYX", angles)
    estimated = Rotation.from_rotvec(errors[:, 6:]).inv() * attitude
    columns = {"time_s": time_s} | dict(zip(STATE, truth, strict=True))
    columns |= {"wx_radps": 0.0, "wy_radps": 0.0, "wz_radps": 4.0}
    columns |= dict(zip(Q_WORLD_FROM_BODY, np.roll(attitude.as_quat(), 1, axis=1).T, strict=True))
    for column, true, error in zip(STATE, truth, errors.T, strict=False):
        columns[f"estimate.{column}"] = true - error
    for column, part in zip(Q_WORLD_FROM_BODY, np.roll(estimated.as_quat(), 1, axis=1).T, strict=1):
        columns[f"estimate.{column}"] = part
    if covariance is not None:
        columns |= {f"estimate.cov_{ERRORS[i]}_{ERRORS[j]}": covariance[i, j] for i, j in PAIRS}
    columns["status"] = 0.0
    values = np.stack([np.broadcast_to(column, rows) for column in columns.values()], axis=1)
    return Table(tuple(columns), values, ("non-finite position_world_m",))


def changed(table, columns, rows, value):
    values = table.values.copy()
    values[rows, [table.columns.index(column) for column in columns]] = value
    return Table(table.columns, values, table.quantities)


def page_of(table, **parts):
    ((name, figure),) = draw_estimation_pages(Log({"tern": table}, **parts))
    assert name == "tern"
    return figure


@pytest.fixture(scope="module")
def consistent():
    covariance, errors = correlated()
    return flown(errors, covariance)


@pytest.fixture(scope="module")
def page(consistent):
    return page_of(consistent)


def axes_of(figure, label):
    return next(axes for axes in figure.axes if axes.get_ylabel().partition("\n")[0] == label)


def labels(figure):
    return [axes.get_ylabel().partition("\n")[0] for axes in figure.axes if axes.get_ylabel()]


def in_key(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def words(figure):
    return " ".join(text.get_text() for text in figure.texts)


def band_of(axes):
    """Half the width of the band at each time."""
    (band,) = axes.collections
    (path,) = band.get_paths()
    return np.abs(path.vertices[:, 1]).max()


@pytest.mark.slow
def test_truth_and_estimate_of_the_whole_state_are_beside_their_errors(page, consistent):
    names = ["x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw"]
    # row by row at the left, then at the right
    assert labels(page) == [*names, *(f"{name} error" for name in names), "NEES"]
    estimate, truth = axes_of(page, "x").lines
    assert (truth.get_color(), estimate.get_color()) == (INK, "#D55E00")
    assert truth.zorder > estimate.zorder
    time_s = consistent.part(("time_s",))[:, 0]
    for line, column in ((truth, "x_m"), (estimate, "estimate.x_m")):
        np.testing.assert_array_equal(line.get_xdata(), time_s)
        np.testing.assert_array_equal(line.get_ydata(), consistent.part((column,))[:, 0])
    (error,) = axes_of(page, "x error").lines
    np.testing.assert_allclose(error.get_ydata(), truth.get_ydata() - estimate.get_ydata())


def test_key_names_every_curve_and_the_sign_of_the_error(page):
    entries = in_key(page)
    assert entries[:3] == ["truth", "estimate", "error: truth minus estimate"]
    assert "±3 estimated standard deviations" in entries
    assert "95 % interval of the NEES" in entries
    assert len(entries) == len(set(entries))


def test_consistent_errors_are_inside_the_band(page, consistent):
    quantities = [one for group in estimated_quantities(consistent).values() for one in group]
    # 9 x 1200 draws, which are correlated in part: 99.73 % of a normal distribution
    share = share_within(quantities, DEVIATIONS)
    assert share == pytest.approx(0.9973, abs=0.003)
    covariance, _ = correlated()
    for name, size in (("x error", covariance[0, 0]), ("vz error", covariance[5, 5])):
        assert band_of(axes_of(page, name)) == pytest.approx(3.0 * np.sqrt(size))
    assert f"{100.0 * share:.3g} % of all errors within 3 deviations" in words(page)


def test_each_angle_has_its_own_deviation():
    covariance, errors = correlated()
    # 0.5 deg about each axis of the world, at a pitch of up to 11 deg
    for quantity in estimated_quantities(flown(errors, covariance))["attitude"]:
        normalized = quantity.error / quantity.deviation
        # four deviations of the standard deviation of so many draws
        assert normalized.std() == pytest.approx(1.0, abs=4.0 / np.sqrt(2.0 * ROWS))


def test_angles_of_the_estimate_are_near_those_of_the_truth(page):
    for name in ("roll", "pitch", "yaw"):
        estimate, truth = (line.get_ydata() for line in axes_of(page, name).lines)
        assert np.nanmax(np.abs(estimate - truth)) < 5.0


def test_nees_panel_has_the_nees_of_consistency_and_its_interval(page, consistent):
    covariance, errors = correlated()
    axes = axes_of(page, "NEES")
    expected, values = axes.lines
    # errors that went through quaternions and sums
    wanted = nees(errors, np.broadcast_to(covariance, (ROWS, 9, 9)))
    np.testing.assert_allclose(values.get_ydata(), wanted, rtol=1e-6)
    np.testing.assert_array_equal(values.get_ydata(), nees_of(consistent)[0])
    np.testing.assert_array_equal(expected.get_ydata(), 9.0)
    (path,) = axes.collections[0].get_paths()
    low, high = nees_bounds(1)
    assert (path.vertices[:, 1].min(), path.vertices[:, 1].max()) == pytest.approx((low, high))
    assert axes.get_yscale() == "log"
    found = consistency(consistent)
    title = axes.get_title(loc="left")
    assert f"mean {found.nees_mean:.3g}, {100.0 * found.nees_inside:.3g} % in the band" in title


def test_true_state_has_no_page(tmp_path):
    exact = flown(np.zeros((ROWS, 9)))
    # the same bits, without the rounding of rotations
    for column in Q_WORLD_FROM_BODY:
        exact = changed(exact, [f"estimate.{column}"], slice(None), exact.part((column,)))
    bare = Table(exact.columns[:14], exact.values[:, :14])
    assert save_estimation_pages(Log({"tern": exact, "gull": bare}), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_without_a_covariance_there_is_no_band_and_the_page_says_so():
    figure = page_of(flown(correlated()[1]))
    assert "NEES" not in labels(figure)
    assert not any(axes.collections for axes in figure.axes)
    assert "no covariance in the log: neither bands nor NEES" in words(figure)
    assert in_key(figure) == ["truth", "estimate", "error: truth minus estimate"]


def test_errors_that_are_not_estimated_have_no_band():
    covariance, errors = correlated()
    covariance[6:] = covariance[:, 6:] = 0.0
    figure = page_of(flown(errors, covariance))
    assert axes_of(figure, "x error").collections
    assert not axes_of(figure, "roll error").collections
    assert "NEES of 6 errors" in axes_of(figure, "NEES").get_title(loc="left")


@pytest.mark.slow
def test_parts_without_an_error_say_so():
    covariance, errors = correlated()
    errors[:, 6:] = 0.0
    figure = page_of(flown(errors, covariance))
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {f"{name}: no error" for name in ("roll", "pitch", "yaw")} <= set(texts)
    assert "roll error" not in labels(figure)
    pages = dict(draw_estimation_pages(Log({"tern": flown(errors, covariance)}), PAPER))
    assert labels(pages["tern-attitude"]) == ["roll", "pitch", "yaw"]


@pytest.mark.slow
def test_rows_that_are_not_finite_are_gaps(consistent):
    gaps = changed(consistent, ["estimate.x_m"], slice(100, 200), np.nan)
    gaps = changed(gaps, ["estimate.cov_x_x"], slice(300, 400), np.nan)
    figure = page_of(gaps)
    (error,) = axes_of(figure, "x error").lines
    missing = np.flatnonzero(np.isnan(error.get_ydata()))
    np.testing.assert_array_equal(missing, np.arange(100, 200))
    values = axes_of(figure, "NEES").lines[1].get_ydata()
    assert np.isnan(values[[*range(100, 200), *range(300, 400)]]).all()
    assert np.isfinite(values).sum() == ROWS - 200


@pytest.mark.slow
def test_diverging_vehicle_is_drawn_up_to_its_loss(consistent):
    away = np.expm1(np.maximum(np.arange(ROWS) - 800.0, 0.0))
    lost = changed(consistent, ["x_m"], slice(None), consistent.part(("x_m",)) + away[:, None])
    state = [column for column in lost.columns if column not in ("time_s", "status")]
    for column in state:
        lost = changed(lost, [column], slice(1000, None), np.nan)
    lost = changed(lost, ["status"], slice(1000, None), 1.0)
    figure = page_of(lost)
    low, high = axes_of(figure, "x").get_ylim()
    assert -200.0 < low < high < 200.0
    assert "diverged: non-finite position_world_m at 50 s" in words(figure)


@pytest.mark.slow
@pytest.mark.parametrize("value", [np.inf, 1e300, 1e160])
def test_values_without_finite_squares_are_gaps(value, consistent):
    columns = [column for column in consistent.columns if column.startswith("estimate.")]
    lost = changed(consistent, columns, slice(1000, None), value)
    figure = page_of(lost)
    for name in ("x error", "yaw error"):
        (error,) = axes_of(figure, name).lines
        np.testing.assert_array_equal(np.isfinite(error.get_ydata()), np.arange(ROWS) < 1000)
    assert np.isfinite(axes_of(figure, "NEES").lines[1].get_ydata()).sum() == 1000


@pytest.mark.slow
def test_page_names_the_estimator_and_the_size_of_its_errors(consistent):
    entry = {"estimator": {"type": "ekf", "gnss": None}}
    log = Log({"tern-2": consistent}, scenario={"vehicles": {"tern": entry}})
    ((_, figure),) = draw_estimation_pages(log)
    found = consistency(consistent)
    assert "Estimate of tern-2" in words(figure)
    sizes = f"RMS {found.position_rms_m:.3g} m · largest {found.position_max_m:.3g} m"
    assert f"estimator: ekf · position error {sizes}" in words(figure)


@pytest.mark.slow
def test_paper_has_a_file_for_each_group(consistent, tmp_path):
    log = Log({"tern": consistent, "gull": flown(correlated()[1])})
    written = save_estimation_pages(log, tmp_path, style=PAPER, file_format="pdf")
    groups = ["position", "velocity", "attitude"]
    stems = [*(f"tern-{group}" for group in (*groups, "nees")), *(f"gull-{g}" for g in groups)]
    assert [path.name for path in written] == [f"estimation-{stem}.pdf" for stem in stems]
    assert all(path.is_file() for path in written)


@pytest.mark.slow
def test_no_words_of_a_page_cover_each_other(page, consistent):
    paper = (figure for _, figure in draw_estimation_pages(Log({"tern": consistent}), PAPER))
    for figure in (page, *paper):
        renderer = figure.canvas.get_renderer()
        figure.draw_without_rendering()
        drawn = [text for axes in figure.axes for text in visible_words(axes)]
        drawn += [*figure.texts, *figure.legends]
        boxes = [artist.get_window_extent(renderer) for artist in drawn]
        covered = [
            (a, b)
            for (a, one), (b, two) in combinations(zip(drawn, boxes, strict=True), 2)
            if one.overlaps(two)
        ]
        assert covered == []
        assert all((figure.bbox.min <= box.min).all() for box in boxes)
        assert all((box.max <= figure.bbox.max).all() for box in boxes)


def visible_words(axes):
    """Titles, labels and ticks of axes, and words in them."""
    if not axes.axison:
        return [text for text in axes.texts if text.get_text()]
    texts = axes.findobj(matplotlib.text.Text)
    ticks = {
        label
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        if not axis.get_view_interval()[0] <= tick.get_loc() <= axis.get_view_interval()[1]
        for label in (tick.label1, tick.label2)
    }
    return [text for text in texts if text.get_text() and text.get_visible() and text not in ticks]


def overview_lines(tables, label, **options):
    figure = draw_overview(Log(tables), **options)
    return figure, axes_of(figure, label)


def thin(axes):
    """The estimates among the curves, which are below the truth."""
    return [line for line in axes.lines if line.get_alpha() == 0.5]


@pytest.mark.slow
def test_overview_has_a_thin_estimate_below_the_truth(consistent):
    figure, axes = overview_lines({"tern": consistent}, "position")
    estimates = thin(axes)
    truths = [line for line in axes.lines if line not in estimates and len(line.get_xdata()) > 2]
    for estimate, truth, axis in zip(estimates, truths, "xy", strict=True):
        wanted = consistent.part((f"estimate.{axis}_m",))[:, 0]
        np.testing.assert_array_equal(estimate.get_ydata(), wanted)
        assert estimate.get_color() == truth.get_color()
        assert estimate.get_linewidth() < truth.get_linewidth()
        assert estimate.zorder < truth.zorder
    entries = [text.get_text() for text in axes.get_legend().get_texts()]
    assert entries == ["x", "y", "estimate"]
    # 0.6 deg of a yaw of many turns cannot be seen, but of a roll of 23
    assert thin(axes_of(figure, "attitude"))


@pytest.mark.slow
@pytest.mark.parametrize(("vehicles", "drawn"), [(3, 3), (4, 0)])
def test_overview_of_several_vehicles_has_estimates_of_up_to_three(vehicles, drawn, consistent):
    tables = {f"tern-{n}": consistent for n in range(vehicles)}
    figure, axes = overview_lines(tables, "height z")
    assert len(thin(axes)) == drawn
    assert ("estimate" in in_key(figure)) == (drawn > 0)


@pytest.mark.slow
def test_estimate_that_runs_away_does_not_flatten_the_truth():
    errors = np.zeros((ROWS, 9))
    errors[:, 0] = -(np.linspace(0.0, 30.0, ROWS) ** 2)
    _, axes = overview_lines({"tern": flown(errors)}, "position")
    low, high = axes.get_ylim()
    # the truth is from -5 to 5
    assert 20.0 > high > 5.0
    assert -6.0 < low < -5.0
