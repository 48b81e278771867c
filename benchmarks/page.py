"""Updates per second of the cockpit's page, counted in a browser, and memory of server and page.

    python benchmarks/page.py hover-hummingbird flock-1000 --seconds 20
    python benchmarks/page.py hover-hummingbird flock-8 --memory --changes 10 --seconds 120

The second line flies the scenarios in turn in one server, chosen from the start page.
An update is a new value of the array of bodies that changes most often. The page acts as a hidden
one, so that viser applies each batch on arrival; without a graphics card, drawing is slower.
It requires Chromium (scripts/browser-setup).
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
# counts what viser's handler of its worker's messages has taken
COUNTER = """
window.updates = {counts: {}, applied: 0, applying_ms: 0};
Object.defineProperty(document, "hidden", {get: () => true});
window.Worker = class extends window.Worker {
  set onmessage(handle) {
    super.onmessage = (event) => {
      const moves = (event.data.messages ?? []).filter(
        (one) => one.type === "SceneNodeUpdateMessage" && one.name.includes("/bodies/"));
      const begin_ms = performance.now();
      handle(event);
      updates.applying_ms += performance.now() - begin_ms;
      for (const {name, updates: values} of moves) {
        for (const key in values) {
          const count = (updates.counts[name + key] ?? 0) + 1;
          updates.counts[name + key] = count;
          updates.applied = Math.max(updates.applied, count);
        }
      }
    };
  }
};
"""
# scripts of the scene run as they do with a graphics card
WITHOUT_DRAWING = """
for (const name of ["drawArrays", "drawArraysInstanced", "drawElements", "drawElementsInstanced"])
  WebGL2RenderingContext.prototype[name] = () => {};
"""
COUNTS = "[updates.applied, updates.applying_ms]"
BYTES = 2**20
READY_MS = 600_000.0


def resident_mib(process: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / BYTES


def heap_mib(session: CDPSession) -> float:
    """Return the memory of the objects of a page's scripts, without garbage."""
    session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"] / BYTES


@contextmanager
def page_of(*arguments: str, script: str) -> Generator[tuple[Page, int]]:
    """Yield the page of ``kittiwake view`` in a browser, and the number of the server's process."""
    command = [sys.executable, "-m", "kittiwake", "view", *arguments, "--no-browser", "--port", "0"]
    browser_file = shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as server,
        sync_playwright() as playwright,
    ):
        assert server.stderr is not None
        lines = iter(server.stderr.readline, "")
        address = next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
        browser = playwright.chromium.launch(executable_path=browser_file, args=[*FLAGS])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(READY_MS)
        page.add_init_script(script)
        page.goto(address)
        try:
            yield page, server.pid
        finally:
            browser.close()
            server.send_signal(signal.SIGINT)
            server.communicate()


def measure(scenario: str, seconds: float, every_s: float) -> None:
    """Fly a scenario, count the updates in a browser, and print the figures."""
    with page_of(scenario, script=COUNTER) as (page, server):
        page.wait_for_function("updates.applied > 100")
        before, begin_s = page.evaluate(COUNTS), time.monotonic()
        while time.monotonic() - begin_s < seconds:
            page.wait_for_timeout(1e3 * min(every_s, seconds))
            memory_mib, flown_s = resident_mib(server), time.monotonic() - begin_s
            print(f"{scenario}: {flown_s:.0f} s, {memory_mib:.0f} MiB", flush=True)
        passed_s, after = time.monotonic() - begin_s, page.evaluate(COUNTS)
    applied, spent_ms = (late - early for late, early in zip(after, before, strict=True))
    print(
        f"{scenario}: {applied / passed_s:.1f} updates received and applied per second, "
        f"{spent_ms / max(applied, 1):.2f} ms each"
    )


def measure_memory(scenarios: list[str], changes: int, seconds: float, every_s: float) -> None:
    """Fly scenarios in turn in one server, and print the memory of the server and of the page."""
    begin_s = time.monotonic()
    with page_of(script=WITHOUT_DRAWING) as (page, server):
        for number, scenario in enumerate(islice(cycle(scenarios), changes + 1)):
            if number:
                page.locator("form[action='/start/end']").first.evaluate("one => one.submit()")
            page.locator(f"button[name=scenario][value={scenario}]").first.click()
            page.wait_for_selector("canvas")
            session = page.context.new_cdp_session(page)
            end_s = time.monotonic() + seconds
            while time.monotonic() < end_s:
                page.wait_for_timeout(1e3 * min(every_s, seconds))
                print(
                    f"{time.monotonic() - begin_s:5.0f} s, change {number}, {scenario}: "
                    f"server {resident_mib(server):.0f} MiB, page {heap_mib(session):.1f} MiB",
                    flush=True,
                )
            session.detach()


def main() -> None:
    """Measure the scenarios one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="+")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between memory samples")
    parser.add_argument("--memory", action="store_true", help="fly all in one server, in turn")
    parser.add_argument("--changes", type=int, default=10, help="changes of the scenario")
    given = parser.parse_args()
    if given.memory:
        measure_memory(given.scenarios, given.changes, given.seconds, given.every)
        return
    for scenario in given.scenarios:
        measure(scenario, given.seconds, given.every)


if __name__ == "__main__":
    main()
