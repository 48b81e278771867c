// Data of the page, viser's client without a server, and the playback of the recorded scene.
"use strict";
const kittiwake = { time: 0, playing: false, speed: 1, listeners: [] };

// viser's client gets its messages from a worker that talks to a server. This one has no server.
(() => {
  const clients = [];
  kittiwake.send = (messages) => {
    for (const client of clients) client.onmessage({ data: { type: "message_batch", messages } });
  };
  window.Worker = class {
    postMessage(data) {
      if (data.type === "set_server" && !clients.includes(this)) {
        clients.push(this);
        kittiwake.whenReady.then(() => {
          if (!clients.includes(this)) return;
          this.onmessage({ data: { type: "connected" } });
          this.onmessage({ data: { type: "message_batch", messages: kittiwake.creation() } });
          kittiwake.show(kittiwake.time);
        });
      } else if (data.type === "send" && data.message.type === "ViewerCameraMessage") {
        kittiwake.camera = data.message;
      } else if (data.type === "close") {
        clients.splice(clients.indexOf(this), 1);
      }
    }
    addEventListener() {}
    terminate() {}
  };
  // the client would write the server's address into that of the page
  window.history.replaceState = () => {};
})();

kittiwake.whenReady = (async () => {
  await new Promise((done) => window.addEventListener("DOMContentLoaded", done));
  const text = document.getElementById("kw-data").textContent.trim();
  const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const base = 8 + length + ((8 - (length % 8)) % 8);
  Object.assign(kittiwake, header, { bytes, base });
  for (const track of kittiwake.tracks) track.values = kittiwake.unpacked(track);
  kittiwake.positions.values = kittiwake.unpacked(kittiwake.positions);
  kittiwake.time = kittiwake.times[0];
  const place = window.location.hash.match(/^#t=([0-9.]+)$/);
  if (place) kittiwake.time = Math.min(Number(place[1]), kittiwake.times.at(-1));
})();

// Values of a track, number after number: planes of bytes of zigzag-coded differences over time.
kittiwake.unpacked = (track) => {
  const { rows, numbers, planes, order, grid } = track, count = rows * numbers;
  const start = kittiwake.base + track.offset, values = new Float32Array(count);
  for (let number = 0; number < numbers; number++) {
    let value = 0, change = 0;
    for (let row = 0; row < rows; row++) {
      const place = number * rows + row;
      let code = 0;
      for (let plane = planes - 1; plane >= 0; plane--) {
        code = code * 256 + kittiwake.bytes[start + plane * count + place];
      }
      const difference = code % 2 ? -(code + 1) / 2 : code / 2;
      if (order === 2) change += difference;
      else change = difference;
      value += change;
      values[place] = value * grid;
    }
  }
  return values;
};

// viser's client has numbers of half precision as their bits
kittiwake.kinds = {
  "|u1": Uint8Array, "|i1": Int8Array, "<u2": Uint16Array, "<i2": Int16Array, "<f2": Uint16Array,
  "<u4": Uint32Array, "<i4": Int32Array, "<f4": Float32Array, "<f8": Float64Array,
};

kittiwake.array = (dtype, offset, bytes) => {
  const start = kittiwake.base + offset;
  return new kittiwake.kinds[dtype](kittiwake.bytes.slice(start, start + bytes).buffer);
};

// Messages that create the scene; arrays are references into the data.
kittiwake.creation = () => {
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled);
    if (value === null || typeof value !== "object") return value;
    if ("$array" in value) return kittiwake.array(...value.$array);
    if ("$bytes" in value) return kittiwake.array("|u1", ...value.$bytes);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one)]));
  };
  return filled(kittiwake.messages);
};

// Index of the last of ascending numbers that is not above a value, at least 0.
kittiwake.before = (numbers, value) => {
  let low = 0, high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (numbers[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
};

kittiwake.valueAt = (track, frame, share) => {
  const { rows, numbers, values } = track, found = new Float32Array(numbers);
  const dense = track.frames === null && rows > 1;
  const row = dense ? frame : track.frames ? kittiwake.before(track.frames, frame) : 0;
  const next = dense && share > 0 ? row + 1 : row;
  for (let i = 0; i < numbers; i++) {
    const now = values[i * rows + row];
    found[i] = now + share * (values[i * rows + next] - now);
  }
  if (track.rotation && next !== row) {
    for (let i = 0; i < numbers; i += 4) {
      let dot = 0;
      for (let j = i; j < i + 4; j++) dot += values[j * rows + row] * values[j * rows + next];
      const sign = dot < 0 ? -1 : 1;
      for (let j = i; j < i + 4; j++) {
        found[j] = (1 - share) * values[j * rows + row] + sign * share * values[j * rows + next];
      }
    }
  }
  if (track.rotation) {
    for (let i = 0; i < numbers; i += 4) {
      const length = Math.hypot(found[i], found[i + 1], found[i + 2], found[i + 3]) || 1;
      for (let j = i; j < i + 4; j++) found[j] /= length;
    }
  }
  return found;
};

kittiwake.message = (track, value) => {
  const { message: type, node: name, attribute } = track;
  if (type === "SceneNodeUpdateMessage") return { type, name, updates: { [attribute]: value }, owner: "" };
  return { type, name, [attribute]: value, owner: "" };
};

kittiwake.frameAt = (time) => {
  const { times } = kittiwake, frame = kittiwake.before(times, time);
  const width = frame + 1 < times.length ? times[frame + 1] - times[frame] : 0;
  return [frame, width > 0 ? Math.min(Math.max((time - times[frame]) / width, 0), 1) : 0];
};

kittiwake.vehicleAt = (vehicle, time) => {
  const { rows, values } = kittiwake.positions, [frame, share] = kittiwake.frameAt(time);
  return [0, 1, 2].map((axis) => {
    const place = (3 * vehicle + axis) * rows + frame;
    return share > 0 ? values[place] + share * (values[place + 1] - values[place]) : values[place];
  });
};

// The path of each vehicle up to now, of as many frames as it has segments; the rest is hidden.
kittiwake.path = (frame) => {
  const { rows, numbers, values } = kittiwake.positions, segments = kittiwake.path_segments;
  const vehicles = numbers / 3, points = new Float32Array(vehicles * segments * 6);
  const window_frames = kittiwake.path_frames;
  const stride = Math.max(1, Math.ceil(window_frames / segments));
  const last = Math.ceil(frame / stride);
  for (let vehicle = 0; vehicle < vehicles; vehicle++) {
    for (let segment = 0; segment < segments; segment++) {
      const end = last - segment;
      for (let side = 0; side < 2; side++) {
        const row = Math.max(0, Math.min((end - 1 + side) * stride, frame));
        for (let axis = 0; axis < 3; axis++) {
          const target = ((vehicle * segments + segment) * 2 + side) * 3 + axis;
          points[target] = values[(3 * vehicle + axis) * rows + row];
        }
      }
    }
  }
  return points;
};

// Draw the scene at a time, and tell the charts.
kittiwake.show = (time) => {
  const [frame, share] = kittiwake.frameAt(time), messages = [];
  for (const track of kittiwake.tracks) {
    const value = kittiwake.valueAt(track, frame, share);
    const shown = track.dtype === null ? [...value] : kittiwake.kinds[track.dtype].from(value);
    messages.push(kittiwake.message(track, shown));
  }
  for (const keys of kittiwake.keyframes) {
    messages.push(kittiwake.message(keys, keys.values[kittiwake.before(keys.frames, frame)]));
  }
  const name = kittiwake.path_node, points = kittiwake.path(frame);
  messages.push({ type: "SceneNodeUpdateMessage", name, updates: { points }, owner: "" });
  messages.push(...kittiwake.cameraMessages(time));
  kittiwake.send(messages);
  kittiwake.time = time;
  for (const listener of kittiwake.listeners) listener(time);
};

// Move the camera with the followed vehicle, which keeps the direction and distance of the viewer.
kittiwake.cameraMessages = (time) => {
  const { followed, camera } = kittiwake;
  if (followed === undefined || camera === undefined) return [];
  const target = kittiwake.vehicleAt(followed, time);
  const position = target.map((one, axis) => one + camera.position[axis] - camera.look_at[axis]);
  return [
    { type: "SetCameraPositionMessage", position, initial: false },
    { type: "SetCameraLookAtMessage", look_at: target, initial: false },
  ];
};

kittiwake.play = (playing) => {
  const end = kittiwake.times.at(-1);
  if (playing && kittiwake.time >= end) kittiwake.show(kittiwake.times[0]);
  kittiwake.playing = playing;
  let last = performance.now();
  const step = (now) => {
    if (!kittiwake.playing) return;
    const time = Math.min(kittiwake.time + (kittiwake.speed * Math.max(0, now - last)) / 1000, end);
    last = now;
    kittiwake.show(time);
    if (time >= end) kittiwake.play(false);
    else window.requestAnimationFrame(step);
  };
  if (playing) window.requestAnimationFrame(step);
  else kittiwake.show(kittiwake.time);
};
