// What the page makes of texts that others wrote: figures, and output with its colours. Everything ends as text nodes; control characters, and those that turn the
// direction of writing, stand as their codes. Of control sequences only colours mean anything: nothing is asked back, copied, titled or moved by one.
"use strict";

const SHOWN_AS_CODES = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const SHOWN_AS_CODES_BUT_TABS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const code = (c) => `\\u{${c.codePointAt(0).toString(16)}}`;

/** A text that only shows. */
export function plain(value) {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "" : String(value);
  return text.replace(SHOWN_AS_CODES, code);
}

/** A part of an address; halves of characters, which no address can have, are left out. */
export const encoded = (value) => encodeURIComponent(String(value ?? "").replace(/\p{Surrogate}/gu, ""));

/** The beginning of a text, for a place that is small. */
export function short(value, most = 200) {
  const text = typeof value === "string" ? value : plain(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = count, unit = -1;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(ms) {
  if (ms < 1) return ms < 0.01 ? "< 1 ms" : `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function clock(seconds) {
  const time = new Date(seconds * 1000);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

const PLAIN = { fg: null, bg: null, bold: false, dim: false, italic: false, under: false, inverse: false };
const HELD_CHARS = 256;

/** Reads output piece by piece: texts with their look, ends of lines, and returns to the begin of a line. */
export class Painter {
  constructor() {
    this.look = { ...PLAIN };
    this.held = "";
    this.hidden = false;
  }

  /** `sink` has text(text, look), line() and back(). */
  feed(piece, sink) {
    let text = this.held + piece;
    this.held = "";
    let at = 0;
    while (at < text.length) {
      if (this.hidden) {
        // A title, a clipboard, a question to the terminal: left out, at most to the end of its line.
        const end = text.slice(at).search(/[\u0007\u009c\n\u001b]/);
        if (end < 0) return;
        at += end;
        this.hidden = false;
        if (text[at] === "\u001b" && text[at + 1] === "\\") at += 2;
        else if (text[at] !== "\n" && text[at] !== "\u001b") at += 1;
        continue;
      }
      const next = text.slice(at).search(/[\u001b\u009b\u009d\u0090\r\n]/);
      const end = next < 0 ? text.length : at + next;
      if (end > at) sink.text(text.slice(at, end), this.look);
      if (next < 0) return;
      at = end;
      const step = this.control(text, at, sink);
      if (step === 0) {
        this.held = text.slice(at);
        if (this.held.length > HELD_CHARS) {
          sink.text(this.held, this.look);
          this.held = "";
        }
        return;
      }
      at += step;
    }
  }

  /** How many characters the control at a place takes; none when it is not whole. */
  control(text, at, sink) {
    const first = text[at];
    if (first === "\n") {
      sink.line();
      return 1;
    }
    if (first === "\r") {
      if (at + 1 >= text.length) return 0;
      if (text[at + 1] !== "\n") sink.back();
      return 1;
    }
    if (first === "\u009d" || first === "\u0090") {
      this.hidden = true;
      return 1;
    }
    let begin = at + 1;
    if (first === "\u001b") {
      if (begin >= text.length) return 0;
      const second = text[begin];
      if ("]PX^_".includes(second)) {
        this.hidden = true;
        return 2;
      }
      if (second !== "[") return "()*+#%".includes(second) ? (begin + 1 < text.length ? 3 : 0) : 2;
      begin += 1;
    }
    const rest = /^[\u0030-\u003f]*[\u0020-\u002f]*/.exec(text.slice(begin, begin + HELD_CHARS))[0];
    if (begin + rest.length >= text.length) return 0;
    const final = text[begin + rest.length];
    if (final === "m" && /^[0-9;:]*$/.test(rest)) this.paint(rest);
    // What is no end of a sequence is text.
    return final >= "@" && final <= "~" ? begin + rest.length + 1 - at : begin + rest.length - at;
  }

  paint(parameters) {
    const numbers = parameters.split(/[;:]/).map((number) => (number === "" ? 0 : Number(number)));
    const look = { ...this.look };
    for (let at = 0; at < numbers.length; at += 1) {
      const number = numbers[at];
      if (number === 0) Object.assign(look, PLAIN);
      else if (number === 1) look.bold = true;
      else if (number === 2) look.dim = true;
      else if (number === 3) look.italic = true;
      else if (number === 4) look.under = true;
      else if (number === 7) look.inverse = true;
      else if (number === 22) look.bold = look.dim = false;
      else if (number === 23) look.italic = false;
      else if (number === 24) look.under = false;
      else if (number === 27) look.inverse = false;
      else if (number >= 30 && number <= 37) look.fg = number - 30;
      else if (number >= 90 && number <= 97) look.fg = number - 82;
      else if (number >= 40 && number <= 47) look.bg = number - 40;
      else if (number >= 100 && number <= 107) look.bg = number - 92;
      else if (number === 39) look.fg = null;
      else if (number === 49) look.bg = null;
      else if (number === 38 || number === 48) {
        const ground = number === 38 ? "fg" : "bg";
        if (numbers[at + 1] === 5) {
          look[ground] = indexed(numbers[at + 2]);
          at += 2;
        } else if (numbers[at + 1] === 2) {
          look[ground] = rgb(numbers.slice(at + 2, at + 5));
          at += 4;
        }
      }
    }
    this.look = look;
  }
}

const byte = (number) => Math.max(0, Math.min(255, Math.floor(number) || 0));
const rgb = (parts) => `rgb(${parts.map(byte).concat([0, 0, 0]).slice(0, 3).join(" ")})`;

/** A colour of the table of 256: the first sixteen are the theme's. */
function indexed(given) {
  const index = byte(given);
  if (index < 16) return index;
  if (index >= 232) return rgb(Array(3).fill(8 + (index - 232) * 10));
  const cube = index - 16;
  return rgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => (step === 0 ? 0 : 55 + step * 40)));
}

/** A text with a look, as an element, or as a mere text when it has none. */
export function painted(text, look) {
  const shown = text.replace(SHOWN_AS_CODES_BUT_TABS, code);
  const classes = ["bold", "dim", "italic", "under", "inverse"].filter((name) => look[name]);
  if (classes.length === 0 && look.fg === null && look.bg === null) return document.createTextNode(shown);
  const made = document.createElement("span");
  made.textContent = shown;
  for (const [ground, name, property] of [[look.fg, "f", "color"], [look.bg, "b", "backgroundColor"]]) {
    if (typeof ground === "number") classes.push(`${name}${ground}`);
    else if (ground !== null) made.style[property] = ground;
  }
  made.className = classes.join(" ");
  return made;
}
