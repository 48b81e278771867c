"""Controls that are hidden before they are removed."""

from types import SimpleNamespace

from kittiwake.cockpit import discarded_controls
from kittiwake.cockpit.discarded_controls import DELAY_S, DiscardedControls


def test_controls_are_hidden_at_once_and_removed_later(monkeypatch):
    now_s, removed = [0.0], []
    monkeypatch.setattr(discarded_controls, "monotonic", lambda: now_s[0])
    discarded = DiscardedControls()
    controls = [
        SimpleNamespace(visible=True, remove=lambda number=number: removed.append(number))
        for number in range(2)
    ]
    discarded.add(controls[0])
    now_s[0] = 0.5 * DELAY_S
    discarded.add(controls[1])
    discarded.remove_old()
    assert not any(one.visible for one in controls)
    assert removed == []
    now_s[0] = DELAY_S
    discarded.remove_old()
    assert removed == [0]
