"""Linear models: poles, step responses and metrics, alone and against python-control."""

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.linear_model import LinearModel, signals
from kittiwake.core.errors import KittiwakeError

ZETA, OMEGA = 0.4, 3.0


def oscillator(period_s=None):
    """Return the model of a damped oscillator with unit gain."""
    model = LinearModel(
        A=np.array([[0.0, 1.0], [-(OMEGA**2), -2.0 * ZETA * OMEGA]]),
        B=np.array([[0.0], [OMEGA**2]]),
        C=np.array([[1.0, 0.0], [0.0, 1.0]]),
        D=np.zeros((2, 1)),
        states=signals(["place_m", "speed_mps"]),
        inputs=signals(["setpoint.place_m"]),
        outputs=signals(["x_m", "vx_mps"]),
    )
    if period_s is None:
        return model
    from scipy.signal import cont2discrete

    a, b, *_ = cont2discrete((model.A, model.B, model.C, model.D), period_s)
    return LinearModel(
        a, b, model.C, model.D, model.states, model.inputs, model.outputs, period_s=period_s
    )


@pytest.mark.parametrize("period_s", [None, 0.01])
def test_poles_are_those_of_the_characteristic_equation(period_s):
    expected = -ZETA * OMEGA + 1j * OMEGA * np.sqrt(1.0 - ZETA**2) * np.array([-1.0, 1.0])
    np.testing.assert_allclose(oscillator(period_s).continuous_poles(), expected, rtol=1e-9)


@pytest.mark.parametrize("period_s", [None, 0.001])
def test_step_response_has_the_overshoot_of_its_damping(period_s):
    """Ogata (2010), equation 5-21: exp(-pi zeta / sqrt(1 - zeta^2))."""
    response = oscillator(period_s).step("setpoint.place_m", "x_m")
    overshoot = 100.0 * np.exp(-np.pi * ZETA / np.sqrt(1.0 - ZETA**2))
    assert response.final == pytest.approx(1.0, abs=1e-9)
    # the peak lies between two samples
    assert response.overshoot_percent == pytest.approx(overshoot, rel=1e-3)
    damped = OMEGA * np.sqrt(1.0 - ZETA**2)
    decay = np.exp(-ZETA * OMEGA * response.time_s)
    exact = 1.0 - decay * (
        np.cos(damped * response.time_s) + ZETA * OMEGA / damped * np.sin(damped * response.time_s)
    )
    np.testing.assert_allclose(response.values, exact, atol=1e-9)


def test_an_integrator_has_no_final_value():
    model = LinearModel(
        A=np.zeros((1, 1)),
        B=np.ones((1, 1)),
        C=np.ones((1, 1)),
        D=np.zeros((1, 1)),
        states=signals(["x_m"]),
        inputs=signals(["vx_mps"]),
        outputs=signals(["x_m"]),
    )
    response = model.step("vx_mps", "x_m")
    assert response.final is response.rise_time_s is response.overshoot_percent is None
    assert response.settling_time_s is None
    np.testing.assert_allclose(response.values, response.time_s, atol=1e-9)


def test_a_part_holds_the_other_states():
    part = oscillator().part(states=["speed_mps"], outputs=["vx_mps"])
    assert part.A.tolist() == [[-2.0 * ZETA * OMEGA]]
    assert part.left_out == {"place_m": "held constant"}
    assert part.states[0].unit == "m/s"


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(KittiwakeError, match="no output 'x_n'. Did you mean 'x_m'"):
        oscillator().step("setpoint.place_m", "x_n")


@pytest.mark.slow
def test_an_unknown_state_is_refused_with_all_of_the_model(pelican):
    with pytest.raises(KittiwakeError, match="no state 'roll_rad'") as refused:
        pelican.part(states=["roll_rad"])
    assert all(signal.name in str(refused.value) for signal in pelican.states)


@pytest.mark.parametrize("period_s", [None, 1e-3])
def test_a_signal_is_as_good_as_its_name(period_s):
    model = oscillator(period_s)
    response = model.step(model.inputs[0], model.outputs[0])
    named = model.step("setpoint.place_m", model.outputs[0].name)
    np.testing.assert_array_equal(response.values, named.values)
    assert model.part(states=[model.states[1]]).states == model.states[1:]
    shown = repr(response)
    assert shown.startswith("<StepResponse of ")
    assert f"overshoot {response.overshoot_percent:.3g} %" in shown


def test_a_response_of_too_many_periods_is_refused():
    with pytest.raises(KittiwakeError, match="`duration_s`"):
        oscillator(1e-3).step("setpoint.place_m", "x_m", duration_s=1e5)


def test_a_duration_must_be_positive():
    with pytest.raises(KittiwakeError, match="`duration_s`: got -1"):
        oscillator().step("setpoint.place_m", "x_m", duration_s=-1.0)


@pytest.fixture(scope="module")
def pelican():
    return kw.linearize(kw.trim("pelican"))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_metrics_are_those_of_python_control(pelican):
    control = pytest.importorskip("control")
    response = pelican.step("cmd_roll_rad", "roll_rad", duration_s=2.0)
    rolling = ["rotation_x_body_rad", "angular_velocity_x_body_radps"]
    part = pelican.part(states=rolling, inputs=["cmd_roll_rad"], outputs=["roll_rad"])
    one = part.to_control()
    info = control.step_info(one, T=response.time_s)
    time_s = response.time_s[1]
    assert response.final == pytest.approx(0.7449826435409016, rel=1e-9)  # k_pq0 of QRSim
    assert response.rise_time_s == pytest.approx(info["RiseTime"], abs=1.5 * time_s)
    assert response.settling_time_s == pytest.approx(info["SettlingTime"], abs=1.5 * time_s)
    assert response.overshoot_percent == pytest.approx(info["Overshoot"], abs=0.01)
    _, values = control.step_response(one, T=response.time_s)
    np.testing.assert_allclose(np.squeeze(values), response.values, atol=1e-6)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("period_s", [None, 0.02])
def test_python_control_has_the_same_matrices_and_names(period_s):
    pytest.importorskip("control")
    model = oscillator(period_s)
    system = model.to_control()
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(system, name), getattr(model, name))
    assert system.input_labels == ["setpoint_place_m"]
    assert system.state_labels == ["place_m", "speed_mps"]
    assert system.dt == (0 if period_s is None else period_s)


def test_a_missing_extra_is_named(pelican, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(kw.KittiwakeError, match=r"kittiwake\[control\]"):
        pelican.to_control()


def test_a_model_unpacks_into_its_matrices():
    model = oscillator()
    a, b, c, d = model
    for name, matrix in zip("ABCD", (a, b, c, d), strict=True):
        assert matrix is getattr(model, name)


def test_a_number_is_no_signal():
    model = oscillator()
    with pytest.raises(
        KittiwakeError, match=r"`input`: got 1; must be a name, .* such as model.inputs\[0\]"
    ):
        model.step(1, 1)
    with pytest.raises(KittiwakeError, match=r"`states`: got \[2\]; must be several names"):
        model.part(states=[2])
    with pytest.raises(KittiwakeError, match=r"Write \['place_m'\]"):
        model.part(states="place_m")


def lagging(period_s=None):
    """Return the oscillator behind an actuator with a gain, whose value is an output, too."""
    model = oscillator()
    lag_s, gain = 0.05, 3.0
    a = np.block([[model.A, model.B], [np.zeros((1, 2)), np.array([[-1.0 / lag_s]])]])
    b = np.array([[0.0], [0.0], [gain / lag_s]])
    if period_s is not None:
        from kittiwake.analysis.state_space import sampled

        a, b = sampled(a, b, period_s)
    return LinearModel(
        a,
        b,
        np.eye(3),
        np.zeros((3, 1)),
        (*model.states, *signals(["act_n"])),
        model.inputs,
        (*model.outputs, *signals(["act_n"])),
        period_s=period_s,
    )


def steady_gain(model):
    a = model.A if model.period_s is None else model.A - np.eye(len(model.A))
    return model.D - model.C @ np.linalg.solve(a, model.B)


@pytest.mark.parametrize("period_s", [None, 0.02])
def test_other_states_in_their_steady_state_keep_the_steady_gains(period_s):
    model = lagging(period_s)
    part = model.part(states=model.states[:2], others="steady")
    assert part.left_out == {"act_n": "in its steady state"}
    np.testing.assert_allclose(steady_gain(part), steady_gain(model), atol=1e-12)
    np.testing.assert_allclose(steady_gain(part)[:, 0], [3.0, 0.0, 3.0], atol=1e-9)


@pytest.mark.filterwarnings("default")
def test_other_states_in_their_steady_state_leave_the_model_of_python_control():
    control = pytest.importorskip("control")
    model = lagging()
    part = model.part(states=model.states[:2], others="steady")
    reference = control.model_reduction(model.to_control(), elim_states=[2], method="matchdc")
    for own, theirs in zip(part, (reference.A, reference.B, reference.C, reference.D), strict=True):
        np.testing.assert_allclose(own, theirs, atol=1e-12)


def test_a_state_without_a_steady_state_must_be_kept_unless_it_has_no_effect():
    model = lagging()
    integral = LinearModel(
        np.block([[model.A, np.zeros((3, 1))], [np.array([[1.0, 0.0, 0.0, 0.0]])]]),
        np.vstack([model.B, [[0.0]]]),
        np.eye(4),
        np.zeros((4, 1)),
        (*model.states, *signals(["integral_ms"])),
        model.inputs,
        (*model.outputs, *signals(["integral_ms"])),
    )
    with pytest.raises(KittiwakeError, match="integral among act_n, integral_ms has no steady"):
        integral.part(states=model.states[:2], others="steady")
    part = integral.part(states=model.states[:2], outputs=["x_m"], others="steady")
    assert steady_gain(part).item() == pytest.approx(3.0, rel=1e-9)
    with pytest.raises(KittiwakeError, match="`others`: got 'truncate'; must be 'held' or 'st"):
        model.part(others="truncate")


def test_an_input_that_acts_through_held_states_alone_is_warned_of():
    with pytest.warns(UserWarning, match="setpoint.place_m: without effect.*others='steady'"):
        lagging().part(states=["place_m", "speed_mps"])
