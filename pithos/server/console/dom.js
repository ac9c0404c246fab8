// How the page makes what it shows: descriptions in, elements out, and what is there already is kept, so that nothing blinks and the focus stays. The only place that
// makes elements, but for the painter of output. Invariant: texts become text nodes, properties are those of the list, and an address is a place of this page.
"use strict";

import { plain } from "./text.js";

const PROPERTIES = new Set([
  "className", "hidden", "type", "value", "disabled", "title", "role", "tabIndex", "scope", "colSpan", "placeholder", "autocomplete", "spellcheck", "open", "id",
  "ariaLabel", "ariaCurrent", "ariaPressed", "ariaLive", "ariaKeyShortcuts", "maxLength", "autofocus",
]);
/** Of these what others wrote is shown as text, too. */
const TEXTS = new Set(["title", "ariaLabel", "placeholder"]);
const known = new WeakMap();

/** Describes an element: `name.class.class`, properties (`key`, `on`, `to`, `label`, those of the list), children. */
export function h(name, properties, ...children) {
  const [element, ...classes] = name.split(".");
  return { element, classes, properties: properties ?? {}, children };
}

/** A link to a place of this page. */
export const link = (to, ...children) => h("a", { to }, ...children);

/** An element that somebody else keeps. */
export const kept = (node, key) => ({ node, properties: { key } });

function flat(children, into = []) {
  for (const child of children) {
    if (Array.isArray(child)) flat(child, into);
    else if (child !== null && child !== undefined && child !== false && child !== true) into.push(child);
  }
  return into;
}

/** Makes the children of an element what the descriptions say. */
export function patch(parent, children) {
  const wanted = flat(Array.isArray(children) ? children : [children]);
  const focused = document.activeElement;
  const keys = new Set(wanted.map((item) => item.properties?.key).filter((key) => key !== undefined));
  const byKey = new Map();
  for (const node of [...parent.childNodes]) {
    const key = known.get(node)?.key;
    if (key === undefined) continue;
    if (keys.has(key) && !byKey.has(key)) byKey.set(key, node);
    else node.remove();
  }
  let at = parent.firstChild;
  for (const item of wanted) {
    const key = item.properties?.key;
    let node = key === undefined ? at : byKey.get(key) ?? null;
    if (!fits(node, item, key)) {
      node = make(item);
      parent.insertBefore(node, at);
    } else if (node === at) {
      at = at.nextSibling;
    } else {
      parent.insertBefore(node, at);
    }
    update(node, item);
  }
  while (at !== null) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
  if (focused !== null && focused !== document.activeElement && parent.contains(focused)) focused.focus();
}

function fits(node, item, key) {
  if (node === null) return false;
  if (item.node !== undefined) return node === item.node;
  const is = known.get(node);
  return typeof item === "object" ? is !== undefined && is.element === item.element && is.key === key : is === undefined && node.nodeType === 3;
}

function make(item) {
  if (item.node !== undefined) {
    known.set(item.node, { kept: true, key: item.properties.key });
    return item.node;
  }
  if (typeof item !== "object") return document.createTextNode("");
  const node = item.element === "a" ? document.getElementById("shapes").content.firstElementChild.cloneNode() : document.createElement(item.element);
  known.set(node, { element: item.element, key: item.properties.key, on: {}, set: {} });
  return node;
}

function update(node, item) {
  if (item.node !== undefined) return;
  if (typeof item !== "object") {
    const text = plain(item);
    if (node.textContent !== text) node.textContent = text;
    return;
  }
  const is = known.get(node);
  const set = { ...item.properties };
  if (item.classes.length > 0) set.className = [...item.classes, set.className ?? ""].join(" ").trim();
  for (const [name, value] of Object.entries(set)) {
    if (name === "key") continue;
    else if (name === "on") listen(node, is, value);
    else if (name === "to") {
      if (is.set.to !== value) node.hash = value;
    } else if (name === "label") {
      if (is.set.label !== value) node.dataset.label = value;
    } else if (!PROPERTIES.has(name)) throw new Error(`the page sets ${name}`);
    else if (is.set[name] !== value) node[name] = TEXTS.has(name) ? plain(value) : value;
  }
  for (const name of Object.keys(is.set)) {
    if (!(name in set) && PROPERTIES.has(name)) node[name] = typeof is.set[name] === "boolean" ? false : name.startsWith("aria") || name === "role" ? null : "";
  }
  is.set = set;
  patch(node, item.children);
}

function listen(node, is, handlers) {
  for (const [name, handler] of Object.entries(handlers)) {
    if (!(name in is.on)) node.addEventListener(name, (event) => is.on[name]?.(event));
    is.on[name] = handler;
  }
}
