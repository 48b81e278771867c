"""Styles of the page's own panels, within viser's page.

They only arrange and color; without them, as with another layout of viser's page, all controls
remain usable.
"""

# height of the strip of charts below the scene
STRIP_PX = 246

# of the State panel on small screens
GLANCE_PX = 176

# of the controls beside the scene
CONTROLS_PX = 388

# The State panel has no tab bar, and is as wide as the scene at most. Messages are below it. On
# small screens, where viser has no floating panels, it is at the top of the screen, and the scene
# between it and the controls, unless these are closed.
_GLANCE_STYLE = """<style>
.mantine-Notifications-root { top: auto !important; bottom: calc(STRIP_PX + 1em); }
[data-floating-window]:has(.kw-glance) [data-dock-strip] { display: none !important; }
[data-floating-window]:has(.kw-glance) { max-width: calc(100vw - CONTROLS_PX); }
.kw-glance { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 0 10px 8px;
  font-size: 12.5px; line-height: 1.35; font-variant-numeric: tabular-nums;
  color: var(--mantine-color-text); }
.kw-dial { width: 92px; height: 92px; flex: none; }
.kw-text { flex: 1 1 160px; min-width: 0; }
.kw-head { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline;
  padding-bottom: 4px; }
.kw-status { color: #fff; background: #24608c; border-radius: 4px; padding: 0 7px; }
.kw-facts { display: grid; gap: 2px 12px;
  grid-template-columns: repeat(auto-fit, minmax(90px, auto)); }
.kw-facts i { display: block; font-style: normal; font-size: 11px; line-height: 1.2;
  color: var(--mantine-color-dimmed); }
.kw-facts b { font-weight: 500; }
.kw-alarm { color: #e03131; font-weight: 600; }
.kw-status.kw-alarm { color: #fff; background: #e03131; }
.kw-rim { fill: var(--mantine-color-body); stroke: var(--mantine-color-dimmed); stroke-width: 2; }
.kw-sky { fill: #4f9bd9; } .kw-earth { fill: #8f6a45; }
.kw-tick { stroke: #fff; stroke-width: 1.5; fill: none; }
.kw-rim ~ g > .kw-tick { stroke: var(--mantine-color-dimmed); }
.kw-dial text { fill: var(--mantine-color-text); font-size: 14px; font-weight: 600;
  text-anchor: middle; }
.kw-self { fill: none; stroke: #ffb300; stroke-width: 3.5; stroke-linejoin: round; }
.kw-wind { fill: none; stroke: #2f9e6e; stroke-width: 4; }
@media (max-width: 36em) {
  div[style*="width: 20em"] { width: 100vw !important; }
  [data-dock-root] > div:first-child { top: GLANCE_PX !important; bottom: 60% !important; }
  body:has([aria-hidden=true] .kw-glance) [data-dock-root] > div:first-child { top: 0 !important; }
  body:has(div[style*="width: 20em"] > [aria-hidden=true]) [data-dock-root] > div:first-child {
    bottom: 3.5em !important; }
  .mantine-Notifications-root { top: calc(GLANCE_PX + .5em) !important; bottom: auto; }
  .kw-glance { position: fixed; top: 0; left: 0; right: 0; padding: 6px; z-index: 20;
    box-sizing: border-box; min-height: GLANCE_PX;
    background: var(--mantine-color-body); box-shadow: 0 0 8px rgba(0, 0, 0, .2);
    font-size: 12px; }
  .kw-dial { width: 62px; height: 62px; }
}
</style>""".replace("GLANCE_PX", f"{GLANCE_PX}px").replace("STRIP_PX", f"{STRIP_PX}px")
GLANCE_STYLE = _GLANCE_STYLE.replace("CONTROLS_PX", f"{CONTROLS_PX}px")

# controls are in a row without labels, charts side by side, and the scene ends where they begin
CHARTS_STYLE = f"""<style>
[data-floating-window]:has(.kw-charts) [data-dock-strip] {{ display: none !important; }}
[data-dock-root]:has([data-floating-window][style*="left: 0px"] .kw-charts)
  > div:first-child {{ bottom: {STRIP_PX}px !important; }}
div:has(> div > .kw-charts) {{ display: flex; flex-wrap: wrap; padding-top: 4px; }}
div:has(> div > .kw-charts) > div {{ flex: 1 1 270px; min-width: 0; }}
div:has(> div > .kw-charts) > div:has(~ div > .kw-charts) {{ flex: 1 1 110px; padding: 0 3px 3px; }}
div:has(~ div > .kw-charts) > div > div:first-child:not(:only-child) {{ display: none; }}
div:has(> .kw-charts) {{ flex: 0 0 100% !important; }}
</style><div class="kw-charts"></div>"""
