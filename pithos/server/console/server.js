// What the page asks of its server, and nothing of elsewhere: streams, reads, and with the right to act the actions.
"use strict";

import { encoded } from "./text.js";

/** What who is signed in may do, and the word that goes with each action. */
export const me = { act: false, word: "", pithos: "", pid: 0 };

const address = (path, fields) => {
  const pairs = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return pairs.length === 0 ? path : `${path}?${pairs.map(([name, value]) => `${name}=${encoded(value)}`).join("&")}`;
};

/** What a path says; null when there is no such thing, or nobody is there. */
export async function get(path, fields = {}) {
  try {
    const answer = await fetch(address(path, fields), { cache: "no-store" });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

async function post(path, body) {
  const headers = { "content-type": "application/json", "x-pithos-page": me.word ?? "" };
  try {
    return await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    return null;
  }
}

export const login = (word) => post("login", { word });
export const logout = () => post("logout", {});

const REFUSED = { 401: "you are not signed in any more", 403: "this server lets nobody act through its page", 404: "there is no such thing any more" };

async function changed(answer) {
  if (answer === null) return { ended: "wrong", text: "the server gives no answer" };
  return answer.ok ? await answer.json() : { ended: "wrong", text: REFUSED[answer.status] ?? `refused: ${answer.status}` };
}

/** Does something: how it ended, and a text. */
export const act = async (client, tool, arguments_) => changed(await post("act", { client, tool, arguments: arguments_ }));
/** Answers a question. */
export const answer = async (question, reply) => changed(await post("answer", { question, reply }));

export async function hello() {
  Object.assign(me, (await get("me")) ?? {});
}

/** The stream of pictures and questions. */
export function watch(on) {
  const events = new EventSource("events");
  for (const name of ["overview", "questions"]) events.addEventListener(name, (event) => on(name, JSON.parse(event.data)));
  events.addEventListener("error", () => on(events.readyState === EventSource.CLOSED ? "closed" : "lost", null));
  return events;
}

/** The stream of a job's output. */
export function follow(client, job, from, on) {
  const events = new EventSource(address("follow", { client, job, from }));
  for (const name of ["begin", "skipped", "output", "screen", "end"]) {
    events.addEventListener(name, (event) => on(name, JSON.parse(event.data)));
  }
  // It would begin again by itself, from where it once began.
  events.addEventListener("error", () => {
    events.close();
    on("lost", null);
  });
  return events;
}
