// The pages: what there is now in, descriptions of elements out. Nothing here asks or changes anything but through what it is given to call.
"use strict";

import { h, kept, link } from "./dom.js";
import { bytes, clock, count, duration, encoded, plain, short } from "./text.js";

const where = (...parts) => `/${parts.map(encoded).join("/")}`;
const jobLink = (client, job) => h("a.mono", { to: where("job", client, job) }, job);
const sessionLink = (client, session) => h("a.mono", { to: where("session", client, session) }, session);

/** All rows of a kind over all clients, each with its client. */
export function rows(picture, kind) {
  return (picture?.clients ?? []).flatMap((client) => client[kind].map((row) => ({ client: client.client, ...row })));
}

const more = (picture, kind) => (picture?.clients ?? []).reduce((sum, client) => sum + (client[kind] ?? 0), 0);

const CHIPS = { running: "run", failed: "bad", lost: "bad", stopped: "warn", wrong: "bad", refused: "bad", abandoned: "warn", unknown_tool: "bad" };
const chip = (word, kind = CHIPS[word] ?? "") => h(kind === "" ? "span.chip" : `span.chip.${kind}`, null, word);

/** The chip of a job: what it ended with says more than that it has ended. */
function stateOf(row) {
  if (row.waiting !== null && row.waiting !== undefined) return chip("asks", "warn");
  if (row.state === "done" && row.status !== 0 && row.status !== null) return chip(`exit ${plain(row.status)}`, "bad");
  return row.state === "done" ? h("span.quiet", null, "done") : chip(row.state);
}

/** A table: heads, rows of { key, cells }. */
function table(heads, lines, none = "none") {
  if (lines.length === 0) return h("p.none", null, none);
  const cell = (value, column) => h("td", { role: "cell", label: heads[column], className: typeof value === "number" || value?.number ? "number" : "" }, value?.number ?? value);
  return h("div.scroll", null, h("table", { role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { scope: "col", role: "columnheader" }, head)))),
    h("tbody", { role: "rowgroup" }, lines.map(({ key, cells, className }) => h("tr", { key, role: "row", className: className ?? "" }, cells.map(cell))))));
}

const number = (value) => ({ number: value });
const section = (title, ...children) => h("section", { key: title }, h("h2", null, title), ...children);
const facts = (pairs) => h("dl.facts", null, pairs.filter(Boolean).map(([name, value]) => h("div", { key: name }, h("dt", null, name), h("dd", null, value))));

/** Whether a row has the filter's words. */
function fits(ui, ...values) {
  return ui.filter === "" || values.some((value) => plain(value).toLowerCase().includes(ui.filter));
}

/** A button that does something; `sure`: only when it is pressed a second time. */
function action(ui, label, todo, { sure = false, key = label, kind = "" } = {}) {
  if (!ui.act) return null;
  const armed = sure && ui.armed === key;
  const press = () => (sure && !armed ? ui.arm(key) : ui.run(todo));
  return h("button", { key, type: "button", className: armed ? "danger" : kind, on: { click: press } }, armed ? `Really? ${label}` : label);
}

const clients = (picture) => (picture?.clients ?? []).length;
/** A column that only several clients need. */
const whose = (picture, list, value) => (clients(picture) > 1 ? [value, ...list] : list);

// Now.

/** What a person should see first. */
export function needs(picture, questions) {
  const asking = rows(picture, "jobs").filter((job) => job.waiting !== null && job.waiting !== undefined);
  const denied = rows(picture, "jobs").filter((job) => job.denied > 0);
  const lost = rows(picture, "sessions").filter((session) => !session.alive);
  return { questions, asking, denied, lost, count: questions.length + asking.length };
}

function question(ui, one) {
  const reply = (word) => () => ui.answer(one.question, word);
  return h("article.card.ask", { key: `question-${one.question}` },
    h("h3", null, "May it connect to ", h("b.mono", null, `${plain(one.host)}:${plain(one.port)}`), "?"),
    h("p", null, one.job ? ["Asked by ", jobLink(one.client, one.job), ". "] : "", "Data of the workspace can be sent there."),
    ui.act
      ? h("div.actions", null, action(ui, "This command may", reply("job"), { key: `job-${one.question}`, kind: "first" }), action(ui, "Every command, until the server ends", reply("server"), { key: `server-${one.question}` }), action(ui, "No", reply("no"), { key: `no-${one.question}` }))
      : h("p.none", null, "Answering needs a server with --console=act."));
}

const SECRET = /pass(word|phrase)|pin\b|secret|token/i;

/** A place to type to a job. */
export function typing(ui, client, job, prompt, end = "\n") {
  if (!ui.act) return null;
  const key = `type-${client}-${job}`;
  const send = (event) => {
    event.preventDefault();
    const field = event.currentTarget.querySelector("input");
    const text = field.value;
    field.value = "";
    ui.run(() => ui.do(client, "job", { action: "write", job, text: `${text}${end}` }));
  };
  return h("form.type", { key, on: { submit: send } },
    h("input", { type: SECRET.test(prompt ?? "") ? "password" : "text", ariaLabel: `Answer to ${plain(job)}`, placeholder: "What to type", autocomplete: "off", spellcheck: false }),
    h("button.first", { type: "submit" }, "Send"));
}

function prompt(ui, job) {
  return h("article.card.ask", { key: `prompt-${job.client}-${job.job}` },
    h("h3", null, jobLink(job.client, job.job), " waits for input"),
    h("p.mono.quote", null, short(job.waiting === "" ? "(it has printed nothing)" : job.waiting)),
    h("p.quiet.mono", null, short(job.command, 80)),
    ui.act ? typing(ui, job.client, job.job, job.waiting) : h("p.none", null, "Answering needs a server with --console=act."));
}

/** Jobs that a page shows before somebody asks for all of them. */
const FEW = 15;

function jobTable(ui, picture, jobs, left = 0) {
  const fitting = jobs.filter((job) => fits(ui, job.job, job.session, job.state, job.command));
  const running = fitting.filter((job) => job.state === "running").length;
  const few = ui.all || ui.filter !== "" ? fitting.length : Math.max(running + 5, FEW);
  const lines = fitting.slice(0, few).map((job) => ({
    key: `${job.client}/${job.job}`,
    cells: whose(picture, [jobLink(job.client, job.job), stateOf(job), h("span.mono.cut", { title: short(job.command, 400) }, short(job.command)), sessionLink(job.client, job.session), number(duration(job.ms)), number(bytes(job.bytes)), job.denied > 0 ? h("a", { to: "/denials" }, `${job.denied} denied`) : ""], number(job.client)),
  }));
  return [table(whose(picture, ["Job", "State", "Command", "Session", "Time", "Output", ""], "Client"), lines, jobs.length === 0 ? "no jobs yet" : "no job has these words"),
    fitting.length > few ? h("p.more", null, h("button", { type: "button", on: { click: () => ui.showAll() } }, `Show all ${fitting.length}`)) : left > 0 ? h("p.none", null, `${left} more`) : null];
}

function sessionTable(ui, picture) {
  const lines = rows(picture, "sessions").filter((one) => fits(ui, one.session, one.cwd, one.busy_with)).map((one) => ({
    key: `${one.client}/${one.session}`,
    cells: whose(picture, [sessionLink(one.client, one.session), one.alive ? (one.busy_with === null || one.busy_with === undefined ? chip("idle") : chip("busy", "run")) : chip("lost", "bad"), h("span.mono.cut", null, short(one.cwd)), one.busy_with ? jobLink(one.client, one.busy_with) : "", number(one.runs), number(duration((one.open_s ?? 0) * 1000)), one.undo ? chip(one.undo === "overlay" ? "overlay" : "snapshots") : ""], number(one.client)),
  }));
  return table(whose(picture, ["Session", "State", "Folder", "Runs now", "Runs", "Open for", "Files"], "Client"), lines, "no sessions yet");
}

/** Calls a second between two pictures. */
function rates(picture, before) {
  const seconds = before === null ? Math.max(1, picture.counters.up_s) : Math.max(1, picture.counters.up_s - before.counters.up_s);
  return picture.counters.tools.map((tool, index) => ({ ...tool, rate: Math.max(0, tool.calls - (before === null ? 0 : before.counters.tools[index]?.calls ?? 0)) / seconds }));
}

export function now(ui) {
  const { picture } = ui;
  const { counters, now: sums } = picture;
  const calls = rates(picture, ui.before);
  const wanted = needs(picture, ui.questions);
  const all = calls.reduce((sum, tool) => sum + tool.rate, 0);
  const figures = [
    ["Calls a second", all.toFixed(1)], ["Under way", counters.under_way], ["Sessions", `${sums.sessions}`, `${sums.sessions_busy} busy`], ["Jobs", `${sums.jobs_running}`, `of ${sums.jobs}`],
    ["Cells", sums.cells_running], ["Actors", count(sums.actors), sums.messages_waiting > 0 ? `${count(sums.messages_waiting)} waiting` : ""], ["Memory", bytes(sums.server_bytes + sums.workers_bytes), `${sums.processes} processes`], ["Up", duration(counters.up_s * 1000)],
    counters.journal.dropped + counters.journal.failed > 0 ? ["Journal", `${counters.journal.dropped + counters.journal.failed} missing`] : null,
  ].filter(Boolean);
  const cards = [
    ...wanted.questions.map((one) => question(ui, one)), ...wanted.asking.map((job) => prompt(ui, job)),
    ...wanted.lost.map((one) => h("article.card", { key: `lost-${one.client}-${one.session}` }, h("h3", null, sessionLink(one.client, one.session), " is lost"), h("p", null, "Its process has ended, and the next call gets a new one."))),
    wanted.denied.length > 0 ? h("article.card", { key: "denied" }, h("h3", null, link("/denials", `${wanted.denied.length} job${wanted.denied.length === 1 ? " was" : "s were"} denied something`)), h("p", null, wanted.denied.slice(0, 6).map((job) => [jobLink(job.client, job.job), " "]), "— see by which rule, and how it would be allowed.")) : null,
  ].filter(Boolean);
  const tools = calls.filter((tool) => tool.calls > 0 && fits(ui, tool.tool)).map((tool) => ({
    key: tool.tool,
    cells: [h("span.mono", null, tool.tool), number(count(tool.calls)), number(tool.wrong > 0 ? count(tool.wrong) : ""), number(tool.rate.toFixed(1)), number(tool.calls === 0 ? "" : duration(tool.sum_us / tool.calls / 1000))],
  }));
  return [
    h("h1.page", null, "Now"),
    h("section.needs", { key: "needs", ariaLabel: "What needs you" }, cards.length > 0 ? h("div.cards", null, cards) : h("p.calm", null, "Nothing waits for you.")),
    h("dl.figures", { key: "figures" }, figures.map(([name, value, besides]) => h("div", { key: name }, h("dt", null, name), h("dd", null, value), besides ? h("dd.besides", null, besides) : null))),
    section("Jobs", ...jobTable(ui, picture, rows(picture, "jobs"), more(picture, "jobs_more"))),
    section("Sessions", sessionTable(ui, picture), more(picture, "sessions_more") > 0 ? h("p.none", null, `${more(picture, "sessions_more")} more`) : null),
    section("Calls by tool", table(["Tool", "Calls", "Not good", "Each second", "Mean"], tools, "no calls yet")),
  ];
}

// Session.

/** The lines of a unified diff, each by its kind. */
function diffLines(text) {
  return String(text).split("\n").slice(0, 4000).map((line) => {
    const kind = line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ") ? "head" : line.startsWith("@@") ? "hunk" : line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : "";
    return h(kind === "" ? "div" : `div.${kind}`, null, line === "" ? " " : short(line, 2000));
  });
}

export function session(ui, client, name) {
  const one = rows(ui.picture, "sessions").find((row) => row.client === client && row.session === name);
  const jobs = rows(ui.picture, "jobs").filter((row) => row.client === client && row.session === name);
  const head = h("h1.page", null, "Session ", h("span.mono", null, name));
  if (one === undefined) return [head, h("p.none", null, "There is no such session any more."), section("Runs", ...jobTable(ui, ui.picture, jobs))];
  const todo = (fields) => () => ui.do(client, "session", { session: name, ...fields });
  const { diff, checkpoints } = ui.data;
  const files = diff?.structured?.files ?? [];
  const changes = files.filter((file) => fits(ui, file.path, file.change)).map((file) => ({
    key: file.path,
    cells: [chip(file.change, { created: "good", added: "good", deleted: "bad" }[file.change] ?? "warn"), h("span.mono.path", null, file.path), number(bytes(file.bytes ?? 0)),
      h("span.actions", null, action(ui, "Keep", todo({ action: "commit", paths: [file.path] }), { key: `keep-${file.path}` }), action(ui, "Drop", todo({ action: "discard", paths: [file.path] }), { key: `drop-${file.path}`, sure: true }))],
  }));
  const kept_ = (checkpoints?.structured?.checkpoints ?? []).map((point) => ({
    key: point.checkpoint,
    cells: [h("span.mono", null, point.checkpoint), point.session, number(point.files), number(bytes(point.bytes)), clock(point.created_s),
      h("span.actions", null,
        action(ui, "Go back to it", todo({ action: "restore", checkpoint: point.checkpoint }), { key: `restore-${point.checkpoint}`, sure: true }),
        action(ui, "Fork", () => ui.do(client, "session", { action: "fork", checkpoint: point.checkpoint }), { key: `fork-${point.checkpoint}` }),
        action(ui, "Delete", () => ui.do(client, "session", { action: "delete", checkpoint: point.checkpoint }), { key: `delete-${point.checkpoint}`, sure: true }))],
  }));
  const overlaid = one.undo === "overlay";
  return [
    head,
    facts([["State", one.alive ? (one.busy_with ? h("span", null, chip("busy", "run"), " ", jobLink(client, one.busy_with)) : chip("idle")) : chip("lost", "bad")], ["Folder", h("span.mono", null, one.cwd)], ["Runs", one.runs], ["Open for", duration((one.open_s ?? 0) * 1000)], ["Files", one.undo ? (overlaid ? "an overlay: the workspace is as it was" : plain(one.undo_note ?? "snapshots")) : "the workspace itself"]]),
    h("div.actions.bar", { key: "actions" },
      one.undo ? action(ui, "Undo the last call", todo({ action: "undo" }), { sure: true }) : null,
      one.undo ? action(ui, "Checkpoint", todo({ action: "checkpoint" })) : null,
      action(ui, "Fork", todo({ action: "fork" }), { key: "fork-session" }),
      overlaid && files.length > 0 ? action(ui, "Keep all changes", todo({ action: "commit" }), { sure: true }) : null,
      overlaid && files.length > 0 ? action(ui, "Drop all changes", todo({ action: "discard" }), { sure: true }) : null,
      action(ui, "Close", todo({ action: "close" }), { sure: true, key: "close-session" })),
    one.undo ? section(`Changes${diff?.structured ? ` (${count(diff.structured.count)})` : ""}`,
      diff === undefined ? h("p.none", null, "looking …") : diff === null || diff.error ? h("p.none", null, diff?.error ?? "not now") : [
        table(["Change", "Path", "Size", ""], changes, "no changes"),
        files.length > 0 ? h("pre.diff", { tabIndex: 0, ariaLabel: "Differences" }, diffLines(diff.text)) : null]) : null,
    kept_.length > 0 ? section("Checkpoints", table(["Checkpoint", "Of session", "Files", "Size", "Made at", ""], kept_)) : null,
    section("Runs", ...jobTable(ui, ui.picture, jobs)),
  ];
}

// Job.

/** The statuses of the last pipelines, as the script has them. */
const stages = (pipelines) => (pipelines.length > 12 ? "… ; " : "") + pipelines.slice(-12).map((one) => one.join(" | ")).join(" ; ");

/** Keys of a terminal that a line of text does not have. */
const KEYS = [["Ctrl-C", "\x03"], ["Ctrl-D", "\x04"], ["Esc", "\x1b"], ["Tab", "\t"], ["↑", "\x1b[A"], ["↓", "\x1b[B"], ["←", "\x1b[D"], ["→", "\x1b[C"]];

export function job(ui, client, name) {
  const { told, found, live } = ui.data;
  const row = rows(ui.picture, "jobs").find((one) => one.client === client && one.job === name) ?? told?.row;
  const head = h("h1.page", null, "Job ", h("span.mono", null, name), " ", row ? stateOf(row) : null);
  if (told === null && row === undefined) return [head, h("p.none", null, "There is no such job any more.")];
  const running = row?.state === "running";
  const todo = (fields) => () => ui.do(client, "job", { job: name, ...fields });
  const waits = row?.waiting !== null && row?.waiting !== undefined;
  const search = (event) => {
    event.preventDefault();
    ui.grep(event.currentTarget.querySelector("input").value);
  };
  return [
    head,
    facts([row ? ["Session", sessionLink(client, row.session)] : null, row ? ["Time", duration(row.ms)] : null, row ? ["Output", bytes(row.bytes)] : null,
      told?.status !== undefined && told?.status !== null ? ["Exit status", plain(told.status)] : null, told?.stopped_by ? ["Ended by", told.stopped_by] : null,
      told?.pipelines ? ["Statuses", h("span.mono", null, short(stages(told.pipelines), 160))] : null, told?.failure ? ["Failure", told.failure] : null,
      row?.denied > 0 ? ["Denied", h("a", { to: "/denials" }, `${row.denied}`)] : null,
      (told?.killed ?? []).length > 0 ? ["Killed", short(told.killed.map((one) => `${one.pid} ${one.command}`).join(", "), 300)] : null]),
    h("pre.script", { key: "script", tabIndex: 0, ariaLabel: "Command" }, String(told?.script ?? row?.command ?? "").split("\n").slice(0, 400).map((line) => h("div", null, line === "" ? " " : short(line, 2000)))),
    running && waits ? h("p.mono.quote", { key: "prompt" }, short(row.waiting === "" ? "(it waits for input, and has printed nothing)" : row.waiting)) : null,
    running && (row.input || waits) ? typing(ui, client, name, row.waiting, live?.screen ? "\r" : "\n") : null,
    running && row.input && live?.screen ? h("div.actions.bar", { key: "keys" }, KEYS.map(([key, text]) => action(ui, key, todo({ action: "write", text }), { key: `key-${key}` }))) : null,
    running ? h("div.actions.bar", { key: "actions" }, action(ui, "Stop", todo({ action: "stop" }), { sure: true, key: `stop-${name}` }), action(ui, "Interrupt", todo({ action: "signal", signal: "INT" })), row.input ? action(ui, "End its input", todo({ action: "write", text: "", close_stdin: true }), { sure: true }) : null) : null,
    live?.screen ? h("section", { key: "terminal" }, h("h2", null, "Terminal"), kept(live.screen.element, "screen")) : null,
    h("section.log", { key: "log" },
      h("div.between", null, h("h2", null, "Output"), live ? h("span.quiet", null, live.state === "live" && running ? (live.lag > 0 ? `${bytes(live.lag)} behind` : "live") : live.state === "lost" ? "reconnecting" : "") : null),
      h("form.type", { key: "grep", on: { submit: search } }, h("input", { type: "search", ariaLabel: "Search the whole log", placeholder: "Search the whole log (a regular expression)", spellcheck: false, autocomplete: "off" }), h("button", { type: "submit" }, "Search")),
      found ? h("div.found", { key: "found" }, h("div.between", null, h("b", null, found.error ? "The search did not work" : found.structured?.more ? "The first matches" : "All matches"), h("button", { type: "button", on: { click: () => ui.grep("") } }, "Close")),
        h("pre.output", { tabIndex: 0, ariaLabel: "Matches" }, String(found.error ?? found.text).split("\n").slice(0, 1000).map((line) => h("div", null, line === "" ? " " : short(line, 2000))))) : null,
      live ? kept(live.output.element, "output") : null),
    (told?.processes ?? []).length > 0 && running ? section("Processes", table(["Process", "Command"], told.processes.map((one) => ({ key: one.pid, cells: [number(one.pid), h("span.mono", null, short(one.command))] })))) : null,
  ];
}

// Actors.

function branch(node, client, above = "") {
  const children = node.children ?? [];
  const SHOWN = 200;
  return h("li", { key: node.name }, (above === "jobs" ? jobLink : above === "sessions" && !node.name.includes(" ") ? sessionLink : (_, name) => h("span.mono", null, short(name, 120)))(client, node.name), children.length > 0 ? h("span.quiet", null, ` ${count(children.length)}`) : null,
    children.length > 0 ? h("ul", null, children.slice(0, SHOWN).map((child) => branch(child, client, node.name)), children.length > SHOWN ? h("li.none", { key: " more" }, `${count(children.length - SHOWN)} more`) : null) : null);
}

export function actors(ui) {
  const lines = rows(ui.picture, "systems").flatMap((system) => (system.error !== undefined
    ? [{ key: `${system.client}/${system.system}`, cells: whose(ui.picture, [h("span.mono", null, system.system), h("span.bad", null, system.error)], number(system.client)) }]
    : system.groups.filter((group) => fits(ui, system.system, group.name)).map((group) => ({
      key: `${system.client}/${system.system}/${group.name}`,
      cells: whose(ui.picture, [h("span.mono", null, system.system), h("span.mono", null, group.name), number(count(group.actors)), number(plain(group.version)), number(count(group.messages_handled)), number(count(group.messages_waiting)), number(group.failed > 0 ? h("span.bad", null, count(group.failed)) : "0"), number(plain(group.restarts)),
        action(ui, "Stop", () => ui.do(system.client, "actors", { action: "stop", system: system.system, to: group.name }), { sure: true, key: `stop-${system.client}-${system.system}-${group.name}` }) ?? ""], number(system.client)),
    }))));
  const trees = Object.entries(ui.data.trees ?? {});
  return [
    h("h1.page", null, "Actors and cells"),
    section("Groups", table(whose(ui.picture, ["System", "Group", "Actors", "Version", "Handled", "Waiting", "Failed", "Restarts", ""], "Client"), lines, "no actors")),
    section("Supervision", h("div.trees", null, trees.map(([client, tree]) => h("div.tree", { key: client }, clients(ui.picture) > 1 ? h("h3", null, `Client ${client}`) : null, tree?.structured?.server ? h("ul", null, branch(tree.structured.server, client === "null" ? null : Number(client))) : h("p.none", null, tree?.error ?? "no answer"))), trees.length === 0 ? h("p.none", null, "no clients yet") : null)),
  ];
}

// Denials.

export function denials(ui) {
  const all = ui.data.denials?.denials ?? [];
  const byRule = new Map();
  for (const one of all) byRule.set(one.rule, (byRule.get(one.rule) ?? 0) + 1);
  const rules = [...byRule].sort((left, right) => right[1] - left[1]).map(([rule, times]) => ({ key: rule, cells: [number(times), short(rule, 300)] }));
  const lines = all.filter((one) => fits(ui, one.subject, one.rule, one.kind, one.job)).map((one) => {
    const key = `${one.client}/${one.job}/${one.kind}/${one.subject}`;
    return {
      key,
      cells: [jobLink(one.client, one.job), chip(one.kind, "bad"), h("span.mono.path", null, short(one.subject, 400)), short(one.rule, 300),
        h("span.allow", null, h("span", null, short(one.how_to_allow, 400)), h("button", { type: "button", title: "Copy how to allow it", on: { click: () => ui.copy(one.how_to_allow) } }, "Copy"))],
    };
  });
  return [
    h("h1.page", null, "Denials"),
    h("p.quiet", { key: "word" }, "What the sandbox did not let jobs do. Nothing is allowed from here: the policy is what the server was started with."),
    section("By rule", table(["Times", "Rule"], rules, ui.data.denials === undefined ? "looking …" : "nothing was denied")),
    section("Each", table(["Job", "What", "Of what", "Rule", "To allow it"], lines, ui.data.denials === undefined ? "looking …" : "nothing was denied"), ui.data.denials?.more > 0 ? h("p.none", null, `${ui.data.denials.more} more`) : null),
  ];
}

// Timeline.

export function timeline(ui) {
  const calls = ui.data.timeline?.calls ?? [];
  const shown = calls.filter((one) => fits(ui, one.tool, one.action, one.text, one.session, one.job, one.by, one.ended)).slice(-300).reverse();
  const sessions = new Set(rows(ui.picture, "sessions").filter((one) => one.undo).map((one) => `${one.client}/${one.session}`));
  const lines = shown.map((one) => {
    const undoable = one.tool === "run" && one.changed > 0 && one.undo !== "none" && sessions.has(`${one.client}/${one.session}`);
    return {
      key: `${one.n}`,
      className: one.by === "console" ? "mine" : "",
      cells: whose(ui.picture, [number(clock(one.time)), h("span.call", null, h("span.mono", null, [one.tool, one.action].filter(Boolean).map(plain).join(" ")), one.by ? [" ", chip(one.by, "run")] : null), h("span.mono.cut", { title: one.text }, short(one.text)),
        one.session ? sessionLink(one.client, one.session) : "", one.job ? jobLink(one.client, one.job) : "",
        h("span", null, one.ended === "good" ? h("span.quiet", null, "good") : chip(one.ended), one.status ? [" ", chip(`exit ${plain(one.status)}`, "bad")] : null, one.denials > 0 ? [" ", chip(`${one.denials} denied`, "bad")] : null), number(duration(one.ms)), one.changed > 0 ? `${one.changed} file${one.changed === 1 ? "" : "s"}` : "",
        undoable ? action(ui, "Undo to before this", () => ui.do(one.client, "session", { action: "undo", session: one.session, job: one.job }), { sure: true, key: `undo-${one.n}` }) ?? "" : one.checkpoint && one.action === "checkpoint" && one.ended === "good" ? action(ui, "Fork from here", () => ui.do(one.client, "session", { action: "fork", checkpoint: one.checkpoint }), { key: `fork-${one.n}` }) ?? "" : ""], number(one.client)),
    };
  });
  return [
    h("h1.page", null, "Timeline"),
    h("p.quiet", { key: "word" }, "The calls that ended last, by session. Green changed nothing, yellow changed files, red did not end well, violet was done on this page."),
    ui.lanes ? h("div.lanes", { key: "lanes" }, kept(ui.lanes, "canvas")) : null,
    section("Calls", table(whose(ui.picture, ["At", "Call", "What", "Session", "Job", "Ended", "Time", "Changed", ""], "Client"), lines, ui.data.timeline === undefined ? "looking …" : "no calls yet"), calls.length > shown.length ? h("p.none", null, `${shown.length} of ${calls.length} that are remembered`) : null),
  ];
}

// Machine.

/** What a doctor says, as lines: names and values of whatever depth. */
function said(value, name = "", into = []) {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) for (const [key, inner] of Object.entries(value)) said(inner, name === "" ? key : `${name} ${key}`, into);
  else if (value !== null && value !== "" && value?.length !== 0) into.push([name.replaceAll("_", " "), value]);
  return into;
}

export function machine(ui) {
  const lines = said(ui.data.machine ?? {}).filter(([name, value]) => fits(ui, name, value)).map(([name, value]) => ({
    key: name,
    cells: [name, value === true ? chip("yes", "good") : value === false ? chip("no", "bad") : / missing$|^missing$/.test(name) ? h("span.bad", null, short(value, 300)) : h("span.mono", null, short(Array.isArray(value) ? value.map(plain).join(", ") : value, 300))],
  }));
  return [
    h("h1.page", null, "Machine"),
    h("section.plots", { key: "plots", ariaLabel: "The last 15 minutes" }, ui.plots.map((plot) => h("figure", { key: plot.name }, h("figcaption", null, h("b", null, plot.name), h("span.quiet", null, plot.value)), kept(plot.canvas, "canvas")))),
    section("What this machine can enforce", table(["What", ""], lines, ui.data.machine === undefined ? "looking …" : "the doctor gives no answer")),
  ];
}

export function help() {
  const keys = [["1 – 5", "the pages"], ["j, k", "next, previous link of a table"], ["Enter", "open it"], [".", "the first action of the page"], ["/", "filter"], ["Escape", "leave the filter, close this, go back"], ["?", "this"]];
  return h("section.help", { key: "help", role: "dialog", ariaLabel: "Keys" }, h("h2", null, "Keys"), h("dl", null, keys.map(([key, what]) => h("div", { key }, h("dt", null, h("kbd", null, key)), h("dd", null, what)))));
}
