"""The documentation says which task knows which conditions."""

import re
from pathlib import Path

from kittiwake.tasks import TASKS

PAGE = Path(__file__).parents[3] / "docs" / "tasks.md"
FIRST_OF_QRSIM, LAST_OF_QRSIM = "keep-spot", "holding-pattern"


def groups():
    """What the page calls several tasks at once."""
    names = list(TASKS.entries)
    ends = names.index(FIRST_OF_QRSIM), names.index(LAST_OF_QRSIM)
    plumes = [name for name in names if name.startswith("plume-")]
    return {"all of QRSim's": names[ends[0] : ends[1] + 1], "the plume tasks": plumes}


def told():
    """By conditions the tasks that the page names."""
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


def test_the_page_names_the_tasks_of_all_conditions():
    true = {}
    for task in TASKS.names():
        for name in TASKS.find(task).conditions:
            true.setdefault(name, set()).add(task)
    assert told() == true
