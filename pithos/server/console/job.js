// A job's output as it comes: bounded, in colours, at its end unless somebody looks further up; and what its terminal shows.
"use strict";

import { Painter, bytes, painted } from "./text.js";
import { follow } from "./server.js";

/** Lines that are in the page; earlier ones are in the log. */
const LINES_MAX = 3000;
/** Characters of a line that are in the page. */
const LINE_CHARS_MAX = 4000;
/** How near to its end a view follows the output. */
const NEAR = 40;

/** A text with lines, which grows. */
export class Output {
  constructor() {
    this.element = document.createElement("pre");
    this.element.className = "output";
    this.element.tabIndex = 0;
    this.element.role = "log";
    this.element.ariaLabel = "Output";
    // Ten times a second is no news for ears.
    this.element.ariaLive = "off";
    this.clear();
  }

  clear() {
    this.element.replaceChildren();
    this.painter = new Painter();
    this.current = null;
    this.count = 0;
    this.chars = 0;
  }

  /** Adds a piece of output. */
  add(text) {
    const element = this.element;
    const follows = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    this.painter.feed(tail(text), this);
    while (this.count > LINES_MAX) {
      element.firstChild.remove();
      this.count -= 1;
    }
    if (follows) element.scrollTop = element.scrollHeight;
  }

  /** A word of the page's own between the lines. */
  note(text) {
    this.line();
    const made = document.createElement("div");
    made.className = "note";
    made.textContent = text;
    this.element.append(made);
    this.count += 1;
    this.current = null;
  }

  text(text, look) {
    if (this.current === null) this.begin();
    const room = LINE_CHARS_MAX - this.chars;
    if (room > 0) this.current.append(painted(text.length > room ? `${text.slice(0, room)} … (the rest of the line is in the log)` : text, look));
    this.chars += text.length;
  }

  line() {
    if (this.current === null) this.begin();
    if (this.chars === 0) this.current.append("\n");
    this.current = null;
  }

  back() {
    if (this.current === null) return;
    this.current.replaceChildren();
    this.chars = 0;
  }

  begin() {
    this.current = document.createElement("div");
    this.chars = 0;
    this.count += 1;
    this.element.append(this.current);
  }
}

/** The last lines of a piece: what would be taken away at once is not made. */
function tail(text) {
  let at = text.length;
  for (let lines = 0; at > 0 && lines <= LINES_MAX; lines += 1) at = text.lastIndexOf("\n", at - 1);
  return at > 0 ? text.slice(at + 1) : text;
}

/** What a terminal shows. */
class Screen {
  constructor() {
    this.element = document.createElement("pre");
    this.element.className = "screen";
    this.element.tabIndex = 0;
    this.element.role = "img";
    this.element.ariaLabel = "Terminal";
  }

  show({ lines, cursor }) {
    this.element.replaceChildren(...lines.map((line, row) => {
      const made = document.createElement("div");
      const parts = [];
      new Painter().feed(line, { text: (text, look) => parts.push(painted(text, look)), line() {}, back() {} });
      made.append(...parts, parts.length === 0 ? "\n" : "");
      if (cursor !== null && cursor[0] === row) made.className = "cursor";
      return made;
    }));
  }
}

/** Follows a job, and tells `told` of what is new besides the output. */
export class Live {
  constructor(client, job, told) {
    [this.client, this.job, this.told] = [client, job, told];
    this.output = new Output();
    this.screen = null;
    this.at = null;
    this.total = 0;
    this.first = 0;
    this.state = "connecting";
    this.resume();
  }

  resume() {
    if (this.events !== undefined || this.state === "end") return;
    this.events = follow(this.client, this.job, this.at, (name, data) => this.heard(name, data));
  }

  /** As long as nobody sees it nothing is asked. */
  pause() {
    this.events?.close();
    this.events = undefined;
  }

  heard(name, data) {
    if (name === "begin") {
      if (this.at === null) {
        this.first = data.at;
        if (data.at > 0) this.output.note(`${bytes(data.at)} before this are in the log`);
      }
      [this.at, this.total] = [data.at, data.total];
    } else if (name === "output") {
      [this.at, this.total] = [data.at, data.total];
      this.output.add(data.text);
    } else if (name === "skipped") {
      this.at = data.at;
      this.output.note(`${bytes(data.bytes)} came too fast to be shown here, and are in the log`);
    } else if (name === "screen") {
      this.screen ??= new Screen();
      this.screen.show(data);
    } else {
      this.pause();
    }
    this.state = name === "begin" || name === "output" || name === "skipped" || name === "screen" ? "live" : name;
    this.told(name);
  }

  get lag() {
    return this.total - (this.at ?? 0);
  }
}
