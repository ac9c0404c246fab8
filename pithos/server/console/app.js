// The page of a server: a picture each second, shown as text. Whatever comes from the server may have been written by an agent, or by whoever an agent
// listened to: it becomes text nodes and nothing else, and no address is ever made of it.
"use strict";

const at = (id) => document.getElementById(id);

/** An element with a text. */
function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** A text that only shows: control characters, and those that turn the direction of writing, stand as their codes. */
export function plain(value) {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "" : String(value);
  const code = (c) => `\\u{${c.codePointAt(0).toString(16)}}`;
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, code);
}

/** The same for the output of a job, whose lines stay lines. */
export function lines(value) {
  return String(value).split("\n").map((line) => plain(line.replaceAll("\t", "    "))).join("\n");
}

function bytes(count) {
  return count < 1024 ? `${count} B` : count < 1048576 ? `${Math.floor(count / 1024)} KB` : `${Math.floor(count / 1048576)} MB`;
}

/** A table: rows of texts, or of elements that were made here. */
function table(place, heads, rows, more) {
  const kept = document.activeElement?.dataset?.key;
  if (rows.length === 0) {
    const none = element("p", "none");
    none.className = "none";
    place.replaceChildren(none);
    return;
  }
  const made = document.createElement("table");
  const head = made.createTHead().insertRow();
  for (const name of heads) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const value of row) {
      const cell = line.insertCell();
      if (value instanceof Node) cell.append(value);
      else cell.textContent = plain(value);
    }
  }
  place.replaceChildren(made);
  if (more > 0) place.append(element("p", `${more} more`));
  if (kept !== undefined) [...place.querySelectorAll("button")].find((button) => button.dataset.key === kept)?.focus();
}

let filter = "";
let last = null;
let before = null;

function fits(row) {
  return filter === "" || row.some((value) => plain(value instanceof Node ? value.textContent : value).toLowerCase().includes(filter));
}

/** Shows a picture. */
export function show(picture) {
  const now = picture.now, counters = picture.counters;
  const figures = [
    ["Up", `${counters.up_s} s`], ["Under way", counters.under_way], ["Clients", now.clients],
    ["Sessions", `${now.sessions} (${now.sessions_busy} busy)`], ["Jobs", `${now.jobs_running} running of ${now.jobs}`],
    ["Cells", now.cells_running], ["Actors", `${now.actors} (${now.messages_waiting} waiting)`],
    ["Server", bytes(now.server_bytes)], ["Workers", `${bytes(now.workers_bytes)} in ${now.processes}`],
    ["Journal", `${counters.journal.written} written, ${counters.journal.dropped + counters.journal.failed} missing`],
  ];
  at("figures").replaceChildren(...figures.map(([name, value]) => {
    const pair = document.createElement("div");
    pair.append(element("dt", name), element("dd", plain(value)));
    return pair;
  }));
  const calls = counters.tools.map((tool, index) => {
    const seconds = before === null ? Math.max(1, counters.up_s) : Math.max(0.001, counters.up_s - before.counters.up_s || 1);
    const count = tool.calls - (before === null ? 0 : before.counters.tools[index].calls);
    const mean = tool.calls === 0 ? "" : `${(tool.sum_us / tool.calls / 1000).toFixed(2)} ms`;
    return [tool.tool, tool.calls, tool.wrong, (count / seconds).toFixed(1), mean];
  });
  table(at("calls"), ["Tool", "Calls", "Wrong", "Each second", "Mean"], calls.filter((row) => row[1] > 0).filter(fits), 0);
  const of = (kind, row) => picture.clients.flatMap((client) => client[kind].map((one) => row(one, client.client)));
  const more = (kind) => picture.clients.reduce((sum, client) => sum + client[kind], 0);
  table(at("sessions"), ["Client", "Session", "Folder", "Runs", "Busy with", ""],
    of("sessions", (row, client) => [client, row.session, row.cwd, row.runs, row.busy_with, row.alive ? "" : "lost"]).filter(fits), more("sessions_more"));
  table(at("jobs"), ["Client", "Job", "Session", "State", "Status", "Time", "Output", "Command"],
    of("jobs", (row, client) => [client, opener(client, row.job), row.session, row.state, row.status, `${(row.ms / 1000).toFixed(1)} s`, bytes(row.bytes), row.command]).filter(fits),
    more("jobs_more"));
  table(at("actors"), ["Client", "System", "Group", "Actors", "Version", "Handled", "Waiting", "Failed", "Restarts"],
    of("systems", (row, client) => row.error !== undefined ? [[client, row.system, row.error]]
      : row.groups.map((group) => [client, row.system, group.name, group.actors, group.version, group.messages_handled, group.messages_waiting, group.failed, group.restarts]))
      .flat().filter(fits), 0);
}

/** A button that shows a job's output. */
function opener(client, job) {
  const button = element("button", plain(job));
  button.type = "button";
  button.dataset.key = `${client}/${job}`;
  button.addEventListener("click", () => open(client, job));
  return button;
}

async function open(client, job) {
  const answer = await fetch(`output?client=${encodeURIComponent(client)}&job=${encodeURIComponent(job)}`, { cache: "no-store" });
  const shown = answer.ok ? await answer.json() : { text: `no output: ${answer.status}`, script: "", truncated: false };
  at("output-name").textContent = `Output of ${plain(job)}${shown.truncated ? " (its middle is left out)" : ""}`;
  at("output-script").textContent = lines(shown.script);
  at("output-text").textContent = lines(shown.text);
  at("output").hidden = false;
  at("output-name").focus();
}

function close() {
  at("output").hidden = true;
}

function say(text, bad) {
  at("state").textContent = text;
  at("state").className = bad ? "bad" : "";
}

function watch() {
  const events = new EventSource("events");
  events.addEventListener("overview", (event) => {
    before = last;
    last = JSON.parse(event.data);
    show(last);
    say(`server ${plain(last.pid)}`, false);
  });
  events.addEventListener("error", () => {
    say(events.readyState === EventSource.CLOSED ? "not signed in, or the server has ended: open the page with 'pithos console'" : "reconnecting", true);
  });
}

const send = (where, what) => fetch(where, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(what) });

async function begin() {
  at("filter").addEventListener("input", () => {
    filter = at("filter").value.toLowerCase();
    if (last !== null) show(last);
  });
  at("output-close").addEventListener("click", close);
  at("leave").addEventListener("click", async () => {
    await send("logout", {});
    location.reload();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== at("filter")) {
      event.preventDefault();
      at("filter").focus();
    } else if (event.key === "Escape") {
      close();
    }
  });
  const word = location.hash.slice(1);
  if (word !== "") {
    // It works once: it must not stay in the address or the history.
    history.replaceState(null, "", location.pathname);
    await send("login", { word });
  }
  watch();
}

await begin();
