// The page of a server: where it is, what it knows, and what keys and buttons do. Whatever comes from the server may have been written by an agent, or by whoever an
// agent listened to: it becomes text and nothing else.
"use strict";

import { h, patch } from "./dom.js";
import { Live } from "./job.js";
import { LANE, lanes, lines } from "./plot.js";
import * as server from "./server.js";
import { bytes, count, duration, plain } from "./text.js";
import * as views from "./views.js";

const at = (id) => document.getElementById(id);
const PAGES = [["now", "Now"], ["actors", "Actors"], ["denials", "Denials"], ["timeline", "Timeline"], ["machine", "Machine"]];

/** Everything that views are given. */
const ui = {
  act: false, all: false, armed: null, before: null, data: {}, filter: "", help: false, lanes: null, page: "now", picture: null, plots: [], questions: [], said: "", where: [],
  /** Does something, and says how it ended. */
  async run(todo) {
    ui.armed = null;
    ui.say("…", false);
    const ended = await todo();
    ui.say(ended.text.trim() === "" ? "done" : ended.text.trim().split("\n").slice(0, 3).join(" · ").slice(0, 300), ended.ended !== "good");
    await load();
    draw();
  },
  do: (client, tool, arguments_) => server.act(client, tool, arguments_),
  answer: (question, reply) => server.answer(question, reply),
  /** A first press: the second one counts. */
  arm(key) {
    ui.armed = key;
    draw();
    setTimeout(() => {
      if (ui.armed !== key) return;
      ui.armed = null;
      draw();
    }, 4000);
  },
  showAll() {
    ui.all = true;
    draw();
  },
  say(text, bad) {
    at("said").textContent = plain(text);
    at("said").className = bad ? "bad shown" : "shown";
    clearTimeout(ui.saying);
    ui.saying = setTimeout(() => (at("said").className = ""), bad ? 12000 : 5000);
  },
  async copy(text) {
    try {
      await navigator.clipboard.writeText(plain(text));
      ui.say("copied", false);
    } catch {
      ui.say("this browser does not let the page copy", true);
    }
  },
  async grep(pattern) {
    ui.data.found = pattern === "" ? null : await server.get("grep", { client: ui.where[0], job: ui.where[1], pattern });
    draw();
  },
};

let events = null;

/** The page and what it is of, as the address says it. */
function read() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const page = parts[0] === "session" || parts[0] === "job" || PAGES.some(([name]) => name === parts[0]) ? parts[0] : "now";
  const client = parts[1] === undefined || parts[1] === "" ? null : Number(parts[1]);
  return { page, where: page === "session" || page === "job" ? [client, parts[2] ?? ""] : [] };
}

/** Another page. */
function go() {
  ui.data.live?.pause();
  Object.assign(ui, read(), { all: false, armed: null, data: {}, help: false });
  ui.lanes = null;
  if (ui.page === "job") ui.data.live = new Live(...ui.where, (name) => (name === "end" || name === "lost" || ui.data.live?.screen ? (name === "end" ? load().then(draw) : draw()) : later()));
  if (ui.page === "timeline") ui.lanes = document.createElement("canvas");
  scrollTo(0, 0);
  draw();
  // What had the focus may be gone.
  if (document.activeElement === document.body) at("view").focus({ preventScroll: true });
  load().then(draw);
}

/** Asks for what the page shows besides the stream. */
async function load() {
  const { page, data, where } = ui;
  const [client, name] = where;
  const put = async (field, path, fields) => {
    data[field] = await server.get(path, fields);
    if (ui.data === data) draw();
  };
  if (page === "session") await Promise.all([put("diff", "diff", { client, session: name }), put("checkpoints", "checkpoints", { client })]);
  else if (page === "job") await put("told", "job", { client, job: name });
  else if (page === "denials") await put("denials", "denials");
  else if (page === "timeline") await put("timeline", "timeline");
  else if (page === "machine") await Promise.all([put("history", "history"), data.machine === undefined ? put("machine", "machine") : null]);
  else if (page === "actors") {
    const trees = {};
    for (const one of ui.picture?.clients ?? []) trees[one.client] = await server.get("tree", { client: one.client });
    data.trees = trees;
  }
}

/** What has changed since the last picture that makes it worth to ask again. */
function stamp() {
  const { picture } = ui;
  if (picture === null) return "";
  if (ui.page === "machine") return Math.floor(picture.counters.up_s / 5);
  if (ui.page === "actors" || ui.page === "job") return picture.counters.up_s;
  return JSON.stringify([picture.counters.tools.map((tool) => tool.calls), picture.now.jobs_running]);
}

let stamped = "";
async function heard(name, data) {
  if (name === "overview") {
    ui.before = ui.picture;
    ui.picture = data;
    state(`server ${plain(data.pid)}${server.me.act ? "" : " · view only"}`, "good");
    draw();
    const now = stamp();
    const asks = ui.page !== "job" || ui.data.told?.state !== "done";
    if (now !== stamped && ui.page !== "now" && asks) {
      stamped = now;
      await load();
      draw();
    }
  } else if (name === "questions") {
    ui.questions = data;
    draw();
  } else if (name === "closed") state("not signed in, or the server has ended: open the page with 'pithos console'", "bad");
  else state("reconnecting", "bad");
}

function state(text, kind) {
  at("state").textContent = text;
  at("state").className = kind;
}

let waiting = false;
/** Draws soon, and once for all that comes until then. */
function later() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    draw();
  }, 250);
}

/** Shows what is known. */
export function draw() {
  ui.act = server.me.act;
  const wanted = views.needs(ui.picture, ui.questions);
  document.title = wanted.count > 0 ? `(${wanted.count}) pithos` : "pithos";
  patch(at("nav"), PAGES.map(([name, title], index) => h("a", { key: name, to: `/${name}`, ariaCurrent: ui.page === name ? "page" : null, ariaKeyShortcuts: String(index + 1) },
    title, name === "now" && wanted.count > 0 ? h("span.badge", { ariaLabel: `${wanted.count} wait for you` }, wanted.count) : null)));
  if (ui.picture === null) return;
  if (ui.page === "machine") plots();
  const page = { now: views.now, actors: views.actors, denials: views.denials, timeline: views.timeline, machine: views.machine }[ui.page];
  const children = page ? page(ui) : views[ui.page](ui, ...ui.where);
  patch(at("view"), [h("div.view", { key: JSON.stringify([ui.page, ui.where]) }, ui.help ? views.help() : null, children)]);
  if (ui.page === "machine") paint();
  if (ui.page === "timeline") paintLanes();
}

/** Shows a picture, whatever page there is: for tests. */
export function show(picture, page = "now", where = [], data = {}) {
  Object.assign(ui, { before: ui.picture, picture, page, where, data, questions: picture.questions ?? [] });
  server.me.act = true;
  draw();
}

// The plots.

let cursor = null;

/** The value of a share of all calls, by the buckets between two samples. */
function share(before, after, ends, part) {
  const counts = after.buckets.map((value, index) => value - before.buckets[index]);
  const all = counts.reduce((sum, value) => sum + value, 0);
  if (all <= 0) return 0;
  let seen = 0;
  for (const [index, value] of counts.entries()) {
    seen += value;
    if (seen >= all * part) return (ends[Math.min(index, ends.length - 1)] ?? 0) / 1000;
  }
  return 0;
}

const total = (sample) => sample.buckets.reduce((sum, value) => sum + value, 0);

/** The six plots: name, unit, and the series of what was sampled. */
function kinds(samples, ends) {
  const each = (value) => samples.map((sample) => [sample.t, value(sample)]);
  const between = (value) => samples.slice(1).map((sample, index) => [sample.t, Math.max(0, value(samples[index], sample))]);
  const rate = (value) => between((before, after) => (value(after) - value(before)) / Math.max(0.001, after.t - before.t));
  return [
    ["Calls a second", (value) => value.toFixed(1), [rate(total)]],
    ["Time of a call, p50 and p99", duration, [between((before, after) => share(before, after, ends, 0.5)), between((before, after) => share(before, after, ends, 0.99))]],
    ["Sessions, and jobs that run", (value) => count(Math.round(value)), [each((sample) => sample.sessions), each((sample) => sample.jobs_running)]],
    ["Memory of the workers, and of the server", bytes, [each((sample) => sample.workers_bytes), each((sample) => sample.server_bytes)]],
    ["Output a second", (value) => bytes(Math.round(value)), [rate((sample) => sample.output_bytes)]],
    ["Denials a minute", (value) => value.toFixed(1), [rate((sample) => sample.denials * 60)]],
  ];
}

function plots() {
  const { samples = [], buckets_us: ends = [] } = ui.data.history ?? {};
  const found = kinds(samples, ends);
  if (ui.plots.length === 0) ui.plots = found.map(([name]) => ({ name, value: "", canvas: plotted() }));
  found.forEach(([name, unit, series], index) => {
    const plot = ui.plots[index];
    Object.assign(plot, { series, unit });
    const last = series.map((points) => points.at(-1)?.[1]).filter((value) => value !== undefined);
    if (cursor === null) plot.value = last.map(unit).join(" · ");
    plot.canvas.role = "img";
    plot.canvas.ariaLabel = `${name}: now ${last.map(unit).join(", ")}`;
  });
}

/** A canvas under whose pointer all plots show their values. */
function plotted() {
  const canvas = document.createElement("canvas");
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const span = shownSpan();
    cursor = span[0] + ((event.clientX - box.left) / box.width) * (span[1] - span[0]);
    paint();
  });
  canvas.addEventListener("pointerleave", () => {
    cursor = null;
    draw();
  });
  return canvas;
}

function shownSpan() {
  const samples = ui.data.history?.samples ?? [];
  const last = samples.at(-1)?.t ?? 1;
  // What is not there yet takes no room.
  return [Math.min(last - 60, Math.max(last - 900, samples[0]?.t ?? 0)), last];
}

function paint() {
  for (const plot of ui.plots) {
    const found = lines(plot.canvas, plot.series ?? [], shownSpan(), cursor);
    if (cursor !== null && found.length > 0) plot.value = found.map(([, value]) => plot.unit(value)).join(" · ");
  }
  if (cursor !== null && ui.page === "machine") patchValues();
}

function patchValues() {
  for (const plot of ui.plots) plot.canvas.parentElement?.querySelector("span")?.replaceChildren(plot.value);
}

function paintLanes() {
  const calls = (ui.data.timeline?.calls ?? []).slice(-300);
  if (ui.lanes === null || calls.length === 0) return;
  const lane = (call) => call.session ?? (call.tool === "actors" || call.tool === "js" ? call.tool : call.job ?? call.tool);
  const names = [...new Set(calls.map(lane))].slice(-12);
  ui.lanes.style.height = `${names.length * LANE}px`;
  ui.lanes.role = "img";
  ui.lanes.ariaLabel = `The last ${calls.length} calls in ${names.length} lanes`;
  const bars = calls.map((call) => ({ lane: lane(call), from: call.time, to: call.time + call.ms / 1000, bad: call.ended !== "good", by: call.by, changed: call.changed > 0 }));
  const span = [Math.min(...bars.map((bar) => bar.from)), Math.max(...bars.map((bar) => bar.to))];
  lanes(ui.lanes, names, bars, span);
}

// Keys.

/** The next link of the page's tables, in one direction. */
function step(direction) {
  const all = [...at("view").querySelectorAll("tbody tr a:first-of-type")].filter((one) => one.closest("td") === one.closest("tr").querySelector("a")?.closest("td"));
  if (all.length === 0) return;
  const now = all.indexOf(document.activeElement);
  all[(now + direction + all.length) % all.length].focus();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement?.tagName);
  if (event.key === "Escape") {
    if (typing) document.activeElement.blur();
    else if (ui.help) ui.help = false;
    else if (ui.page === "job" || ui.page === "session") history.back();
    draw();
    return;
  }
  if (typing) return;
  const page = PAGES[Number(event.key) - 1];
  if (page !== undefined) location.hash = `/${page[0]}`;
  else if (event.key === "/") at("filter").focus();
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === ".") at("view").querySelector(".actions button, form.type input")?.focus();
  else if (event.key === "?") toggleHelp();
  else return;
  event.preventDefault();
}

function toggleHelp() {
  ui.help = !ui.help;
  draw();
}

/** A page that nobody sees holds no stream: browsers have few for each server. */
function seen() {
  if (document.hidden) {
    events?.close();
    events = null;
    ui.data.live?.pause();
  } else {
    events ??= server.watch(heard);
    ui.data.live?.resume();
  }
}

async function begin() {
  at("filter").addEventListener("input", () => {
    ui.filter = at("filter").value.toLowerCase();
    draw();
  });
  at("help").addEventListener("click", toggleHelp);
  at("leave").addEventListener("click", async () => {
    await server.logout();
    location.reload();
  });
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", seen);
  addEventListener("hashchange", go);
  addEventListener("resize", () => draw());
  const word = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(word)) {
    // It works once: it must not stay in the address or the history.
    history.replaceState(null, "", location.pathname);
    await server.login(word);
  }
  await server.hello();
  events = server.watch(heard);
  go();
  // A connection that was lost comes back, and a job's stream with it.
  setInterval(() => {
    if (!document.hidden && ui.data.live?.state === "lost" && events?.readyState === EventSource.OPEN) ui.data.live.resume();
  }, 2000);
}

if (globalThis.EventSource !== undefined) await begin();
