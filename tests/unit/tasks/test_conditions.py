"""The documentation lists the conditions of all tasks."""

import re
from pathlib import Path

from kittiwake.tasks import TASKS

PAGE = Path(__file__).parents[3] / "docs" / "tasks.md"
FIRST_OF_QRSIM, LAST_OF_QRSIM = "keep-spot", "holding-pattern"


def groups():
    """Return the page's names for groups of tasks."""
    names = list(TASKS.entries)
    ends = names.index(FIRST_OF_QRSIM), names.index(LAST_OF_QRSIM)
    plumes = [name for name in names if name.startswith("plume-")]
    return {"all of QRSim's": names[ends[0] : ends[1] + 1], "the plume tasks": plumes}


def documented():
    """Return the tasks that the page names, by condition."""
    table = PAGE.read_text("utf-8").partition("| conditions | of |\n|---|---|\n")[2]
    known = groups()
    found = {}
    for line in table.partition("\n\n")[0].splitlines():
        conditions, tasks = line.strip("|").split("|")
        names = set(re.findall(r"`([^`]+)`", tasks))
        for group, members in known.items():
            names |= set(members) if group in tasks else set()
        for name in re.findall(r"`([^`]+)`", conditions):
            found[name] = names
    return found


def test_documentation_lists_the_tasks_of_all_conditions():
    actual = {}
    for task in TASKS.names():
        for name in TASKS.find(task).conditions:
            actual.setdefault(name, set()).add(task)
    assert documented() == actual
