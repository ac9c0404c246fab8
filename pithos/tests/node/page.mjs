// Runs the page's code over a document that has only what text needs, with hostile pictures; anything that would make markup, code or an address of a text throws.
// Usage: node page.mjs APP_JS < scenes (JSON, an array of {picture, page, where, data}). Prints each scene's elements and texts.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ALLOWED = new Set([
  "textContent", "className", "scope", "type", "hidden", "value", "disabled", "title", "role", "tabIndex", "colSpan", "placeholder", "autocomplete", "spellcheck", "id",
  "ariaLabel", "ariaCurrent", "ariaPressed", "ariaLive", "ariaKeyShortcuts", "maxLength", "hash",
]);
const NAMES = new Set([
  "a", "article", "b", "button", "canvas", "dd", "div", "dl", "dt", "figcaption", "figure", "form", "h1", "h2", "h3", "input", "kbd", "li", "p", "pre", "section", "span",
  "table", "tbody", "td", "th", "thead", "tr", "ul",
]);
// What the page's own code keeps of an element, and what only lists hold.
const INNER = new Set(["children", "text", "parent"]);

class Plain {
  constructor(name) {
    if (name !== "#text" && !NAMES.has(name)) throw new Error(`the page makes <${name}>`);
    Object.assign(this, { name, children: [], dataset: {}, text: "", parent: null });
  }
  get nodeType() { return this.name === "#text" ? 3 : 1; }
  get childNodes() { return this.children; }
  get firstChild() { return this.children[0] ?? null; }
  get nextSibling() { return this.parent?.children[this.parent.children.findIndex((one) => same(one, this)) + 1] ?? null; }
  get textContent() { return this.text + this.children.map((child) => child.textContent).join(""); }
  insertBefore(child, before) {
    if (!(raw(child) instanceof Plain)) throw new Error("the page adds what is no element");
    child.remove();
    const at = before === null ? this.children.length : this.children.findIndex((one) => same(one, before));
    this.children.splice(at, 0, child);
    raw(child).parent = this;
  }
  remove() {
    const { parent } = this;
    if (parent === null) return;
    parent.children.splice(parent.children.findIndex((one) => same(one, this)), 1);
    this.parent = null;
  }
  contains() { return false; }
  addEventListener() {}
  getBoundingClientRect() { return { width: 0, height: 0 }; }
  focus() {}
  dump() { return [this.name, this.text, this.children.map((child) => child.dump()), [...Object.entries(this).filter(([name]) => ["title", "ariaLabel", "placeholder"].includes(name)).map(([, value]) => String(value))]]; }
}

const raws = new WeakMap();
const raw = (one) => raws.get(one) ?? one;
const same = (left, right) => raw(left) === raw(right);

function element(name) {
  const plain = new Plain(name);
  const guarded = new Proxy(plain, {
    set(target, property, value) {
      if (property === "textContent") target.text = String(value);
      else if (property === "hash" && !/^\/(?:$|[\w.~!*'()%-]+(?:\/[\w.~!*'()%-]*)*$)/.test(value)) throw new Error(`the page goes to ${value}`);
      else if (INNER.has(property) || ALLOWED.has(property)) target[property] = value;
      else throw new Error(`the page sets ${String(property)}`);
      return true;
    },
    get(target, property) {
      const value = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  raws.set(guarded, plain);
  return guarded;
}

const places = {};
globalThis.document = {
  documentElement: null,
  getElementById: (id) => (id === "shapes" ? { content: { firstElementChild: { cloneNode: () => element("a") } } } : (places[id] ??= element("div"))),
  createElement: element,
  createTextNode: (text) => {
    const made = element("#text");
    made.textContent = text;
    return made;
  },
  addEventListener() {},
  activeElement: null,
};
globalThis.EventSource = undefined;

const page = await import(pathToFileURL(process.argv[2]));
const scenes = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(scenes.map(({ picture, page: name, where, data }) => {
  page.show(picture, name, where, data);
  return Object.values(places).map((place) => place.dump());
})));
