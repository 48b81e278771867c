// Charts over time: zoom by dragging or the wheel, one cursor for all, set points dotted.
"use strict";
kittiwake.charts = (() => {
  const LEFT = 46, RIGHT = 14, TOP = 6, BOTTOM = 18, MIN_PIXELS = 6, MAX_ENTRIES = 12;
  const charts = [];
  let whole, range, hover = null;

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

  // Round numbers between two limits.
  const ticks = (low, high, count) => {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((one) => one * power >= raw * 0.999);
    const found = [];
    for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(Number((n * step).toPrecision(12)));
    return found;
  };

  // A number with as many digits as the chart resolves.
  const digits = (value, range) => {
    const places = Math.min(Math.max(2 - Math.floor(Math.log10(range)), 0), 6);
    return value.toFixed(places).replace(/^-(0(\.0*)?)$/, "$1");
  };

  const limits = (chart) => {
    if (chart.span) return chart.span;
    let low = Infinity, high = -Infinity;
    for (const line of chart.lines) {
      for (let row = 0; row < line.times.length; row++) {
        const value = line.values[row], time = line.times[row];
        if (time < range[0] || time > range[1] || !Number.isFinite(value)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    if (low > high) return [0, 1];
    // rounding is never magnified
    const least = Math.max(1e-3 * Math.max(Math.abs(low), Math.abs(high)), 1e-4);
    const more = Math.max(0.06 * (high - low), (least - (high - low)) / 2);
    return [low - more, high + more];
  };

  const nearest = (line, time) => {
    const row = kittiwake.before(line.times, time);
    const next = Math.min(row + 1, line.times.length - 1);
    return Math.abs(line.times[next] - time) < Math.abs(line.times[row] - time) ? next : row;
  };

  const draw = (chart) => {
    const { canvas } = chart, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const [low, high] = limits(chart), right = width - RIGHT, bottom = height - BOTTOM;
    const x = (time) => LEFT + ((time - range[0]) / (range[1] - range[0])) * (right - LEFT);
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - TOP);
    pen.font = "11px system-ui, sans-serif";
    pen.strokeStyle = color("--kw-line");
    pen.fillStyle = color("--kw-gray");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const value of ticks(low, high, 4)) {
      pen.beginPath();
      pen.moveTo(LEFT, y(value));
      pen.lineTo(right, y(value));
      pen.stroke();
      pen.fillText(String(value), LEFT - 5, y(value));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const time of ticks(range[0], range[1], 6)) pen.fillText(`${time} s`, x(time), bottom + 4);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, right - LEFT, height - BOTTOM);
    pen.clip();
    pen.setLineDash([1, 2]);
    for (const event of kittiwake.events) {
      pen.strokeStyle = event.loss ? "#d0312d" : color("--kw-gray");
      pen.beginPath();
      pen.moveTo(x(event.time), TOP);
      pen.lineTo(x(event.time), bottom);
      pen.stroke();
    }
    for (const line of chart.lines) stroke(pen, line, x, y);
    pen.setLineDash([]);
    pen.strokeStyle = color("--kw-accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x(kittiwake.time), 0);
    pen.lineTo(x(kittiwake.time), bottom);
    pen.stroke();
    if (chart.drag) {
      pen.fillStyle = "rgba(60, 130, 200, 0.2)";
      pen.fillRect(chart.drag[0], TOP, chart.drag[1] - chart.drag[0], bottom - TOP);
    }
    pen.restore();
    const time = hover ?? kittiwake.time;
    for (const line of chart.lines) {
      if (!line.shown) continue;
      const value = line.values[nearest(line, time)];
      line.shown.textContent = Number.isFinite(value) ? ` ${digits(value, high - low)}` : " –";
    }
  };

  const stroke = (pen, line, x, y) => {
    pen.strokeStyle = line.color;
    pen.globalAlpha = line.kind === "estimate" ? 0.55 : 1;
    pen.lineWidth = line.kind === "actual" ? 1.6 : 1.2;
    pen.setLineDash(line.kind === "setpoint" ? [2, 3] : []);
    pen.beginPath();
    let drawing = false;
    const first = Math.max(0, kittiwake.before(line.times, range[0]) - 1);
    for (let row = first; row < line.times.length; row++) {
      const value = line.values[row];
      if (Number.isFinite(value)) {
        if (drawing) pen.lineTo(x(line.times[row]), y(value));
        else pen.moveTo(x(line.times[row]), y(value));
      }
      drawing = Number.isFinite(value);
      if (line.times[row] > range[1]) break;
    }
    pen.stroke();
    pen.globalAlpha = 1;
  };

  const drawAll = () => charts.forEach(draw);
  const zoom = (low, high) => {
    const width = Math.max(high - low, 1e-3 * (whole[1] - whole[0]));
    const start = Math.min(Math.max(low, whole[0]), whole[1] - Math.min(width, whole[1] - whole[0]));
    range = [start, Math.min(start + width, whole[1])];
    drawAll();
  };

  const listen = (chart) => {
    const { canvas } = chart;
    const pixel = (event) => event.clientX - canvas.getBoundingClientRect().left;
    const time = (at) => {
      const share = (at - LEFT) / (canvas.clientWidth - LEFT - RIGHT);
      return range[0] + Math.min(Math.max(share, 0), 1) * (range[1] - range[0]);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      chart.drag = [pixel(event), pixel(event)];
    });
    canvas.addEventListener("pointermove", (event) => {
      hover = time(pixel(event));
      if (chart.drag) chart.drag[1] = pixel(event);
      drawAll();
    });
    canvas.addEventListener("pointerup", () => {
      if (!chart.drag) return;
      const [from, to] = chart.drag;
      chart.drag = null;
      if (Math.abs(to - from) < MIN_PIXELS) kittiwake.seek(time(to));
      else zoom(Math.min(time(from), time(to)), Math.max(time(from), time(to)));
    });
    canvas.addEventListener("pointerleave", () => {
      hover = null;
      drawAll();
    });
    canvas.addEventListener("dblclick", () => zoom(...whole));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const center = time(pixel(event)), factor = event.deltaY + event.deltaX > 0 ? 1.25 : 0.8;
      zoom(center - factor * (center - range[0]), center + factor * (range[1] - center));
    }, { passive: false });
  };

  const add = (place, description) => {
    const box = document.createElement("section"), title = document.createElement("h2");
    const canvas = document.createElement("canvas"), key = document.createElement("div");
    box.className = "kw-chart";
    key.className = "kw-key";
    title.textContent = description.label;
    canvas.setAttribute("aria-label", description.label);
    const chart = { canvas, span: description.span, lines: [], drag: null };
    const decoded = (numbers) => kittiwake.array("<f4", ...numbers);
    for (const one of description.lines) {
      const line = { ...one, times: decoded(one.times), values: decoded(one.values) };
      const actual = one.kind === "actual";
      const repeated = !actual && chart.lines.some((other) => other.kind === one.kind);
      if (one.label && !repeated && description.lines.length <= MAX_ENTRIES) {
        const entry = document.createElement("span"), sample = document.createElement("i");
        sample.style.color = actual ? one.color : "var(--kw-gray)";
        if (one.kind === "setpoint") sample.style.borderTopStyle = "dotted";
        entry.append(sample, one.label);
        if (actual) entry.append((line.shown = document.createElement("b")));
        key.append(entry);
      }
      chart.lines.push(line);
    }
    box.append(title, canvas, key);
    place.append(box);
    charts.push(chart);
    listen(chart);
  };

  return {
    open(place) {
      whole = [kittiwake.times[0], kittiwake.times.at(-1)];
      range = [...whole];
      kittiwake.panels.forEach((panel) => add(place, panel));
      kittiwake.listeners.push(drawAll);
      window.addEventListener("resize", drawAll);
      drawAll();
    },
    zoom,
    range: () => range,
    reset: () => zoom(...whole),
  };
})();
