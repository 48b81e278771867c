// Bar below the scene: play, time line with events, speed, camera; and the summary.
"use strict";
(() => {
  const MARGIN = 8, MAX_FOLLOWED = 8;
  const element = (name) => document.getElementById(`kw-${name}`);

  const drawLine = () => {
    const canvas = element("line"), ratio = window.devicePixelRatio || 1, { times } = kittiwake;
    const width = canvas.clientWidth, height = canvas.clientHeight, middle = height / 2;
    const style = getComputedStyle(document.documentElement);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const x = (time) => {
      const share = (time - times[0]) / (times.at(-1) - times[0] || 1);
      return MARGIN + share * (width - 2 * MARGIN);
    };
    const bar = (from, to, name) => {
      pen.fillStyle = style.getPropertyValue(name);
      pen.fillRect(from, middle - 2, to - from, 4);
    };
    bar(MARGIN, width - MARGIN, "--kw-line");
    bar(MARGIN, x(kittiwake.time), "--kw-accent");
    for (const event of kittiwake.events) {
      pen.fillStyle = event.loss ? "#d0312d" : style.getPropertyValue("--kw-gray");
      pen.fillRect(x(event.time) - 1, middle - 10, 2, 7);
    }
    pen.fillStyle = style.getPropertyValue("--kw-accent");
    pen.beginPath();
    pen.arc(x(kittiwake.time), middle, 7, 0, 2 * Math.PI);
    pen.fill();
    element("time").textContent = `${kittiwake.time.toFixed(2)} / ${times.at(-1).toFixed(1)} s`;
    element("play").textContent = kittiwake.playing ? "Pause" : "Play";
    canvas.setAttribute("aria-valuenow", kittiwake.time.toFixed(2));
  };

  kittiwake.seek = (time) => {
    kittiwake.playing = false;
    kittiwake.show(Math.min(Math.max(time, kittiwake.times[0]), kittiwake.times.at(-1)));
  };

  const eventNear = (time, width) => {
    const near = kittiwake.events.filter((one) => Math.abs(one.time - time) < width);
    return near.map((one) => `${one.time.toFixed(2)} s: ${one.label}`).join("\n");
  };

  const listenLine = () => {
    const canvas = element("line"), { times } = kittiwake, span = times.at(-1) - times[0];
    const time = (event) => {
      const box = canvas.getBoundingClientRect();
      return times[0] + ((event.clientX - box.left - MARGIN) / (box.width - 2 * MARGIN)) * span;
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      kittiwake.seek(time(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      canvas.title = eventNear(time(event), 0.01 * span);
      if (canvas.hasPointerCapture(event.pointerId)) kittiwake.seek(time(event));
    });
    const keys = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 };
    canvas.addEventListener("keydown", (event) => {
      if (event.key in keys) kittiwake.seek(kittiwake.time + 0.01 * keys[event.key] * span);
      if (event.key === "Home") kittiwake.seek(times[0]);
      if (event.key === "End") kittiwake.seek(times.at(-1));
    });
  };

  const listen = () => {
    element("play").addEventListener("click", () => kittiwake.play(!kittiwake.playing));
    element("speed").addEventListener("change", (event) => {
      kittiwake.speed = Number(event.target.value);
    });
    element("reset").addEventListener("click", () => kittiwake.charts.reset());
    element("more").addEventListener("click", () => {
      element("summary").hidden = !element("summary").hidden;
      element("more").textContent = element("summary").hidden ? "Summary" : "Close summary";
    });
    const follow = element("follow");
    kittiwake.vehicles.forEach((name, number) => follow.add(new Option(`follow ${name}`, number)));
    follow.addEventListener("change", () => {
      kittiwake.followed = follow.value === "" ? undefined : Number(follow.value);
      kittiwake.show(kittiwake.time);
    });
    // of a few vehicles the first, which would leave the picture otherwise
    if (kittiwake.vehicles.length <= MAX_FOLLOWED) {
      follow.value = "0";
      kittiwake.followed = 0;
    }
    window.addEventListener("resize", drawLine);
  };

  kittiwake.whenReady.then(() => {
    element("wait").remove();
    listenLine();
    listen();
    kittiwake.listeners.push(drawLine);
    kittiwake.charts.open(element("side"));
    drawLine();
  }).catch((error) => {
    element("wait").textContent = `This page could not be opened: ${error.message}. It needs a browser of 2023 or later.`;
  });
})();
