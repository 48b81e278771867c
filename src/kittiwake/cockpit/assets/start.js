"use strict";
const search = document.getElementById("search");
const refusal = document.getElementById("refusal");
const nothing = document.getElementById("nothing");

function filterCards() {
  const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  // "boats" and "failing" also find "boat" and "failure"
  const stems = asked.map((word) => word.replace(/(?<=.{4})(es|s|ing|ed)$/, ""));
  let found = 0;
  for (const section of document.querySelectorAll("section")) {
    let shown = 0;
    for (const card of section.querySelectorAll(".card")) {
      card.hidden = !stems.every((stem) => card.dataset.words.includes(stem));
      shown += !card.hidden;
    }
    section.hidden = shown === 0 && stems.length > 0;
    found += shown;
  }
  nothing.hidden = found > 0;
}

async function send(file) {
  const headers = { "X-File-Name": encodeURIComponent(file.name) };
  let response;
  try {
    response = await fetch("/start/upload", { method: "POST", headers, body: file });
  } catch {
    refusal.textContent = `${file.name} was not accepted: it is too large, or Kittiwake has ended.`;
    return;
  }
  if (response.ok) {
    location.assign("/");
  } else {
    refusal.textContent = await response.text();
    scrollTo(0, 0);
  }
}

search.addEventListener("input", filterCards);
document.getElementById("upload").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) send(file);
  event.target.value = "";
});
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", () => document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  if (file) send(file);
});
