// Runs the page's code over a document that has only what text needs, with hostile pictures; anything that would make markup, code or an address of a text throws.
// Usage: node page.mjs APP_JS < pictures (JSON, an array). Prints each picture's elements and texts.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ALLOWED = new Set(["textContent", "className", "scope", "type", "hidden", "value"]);
const NAMES = new Set(["div", "dt", "dd", "table", "tr", "th", "td", "button", "p", "thead", "tbody"]);

globalThis.Node = class {};

class Plain extends Node {
  constructor(name) {
    super();
    if (!NAMES.has(name)) throw new Error(`the page makes <${name}>`);
    this.name = name;
    this.children = [];
    this.dataset = {};
    this.text = "";
  }
  get textContent() { return this.text + this.children.map((child) => child.textContent).join(""); }
  append(...children) {
    if (!children.every((child) => child instanceof Node)) throw new Error("the page appends what is no element");
    this.children.push(...children);
  }
  replaceChildren(...children) { this.children = []; this.append(...children); }
  make(name) { const made = element(name); this.append(made); return made; }
  insertRow() { return this.make("tr"); }
  insertCell() { return this.make("td"); }
  createTHead() { return this.make("thead"); }
  createTBody() { return this.make("tbody"); }
  querySelectorAll() { return []; }
  addEventListener() {}
  focus() {}
  dump() { return [this.name, this.text, this.children.map((child) => child.dump())]; }
}

const element = (name) => new Proxy(new Plain(name), {
  set(target, property, value) {
    if (property === "textContent") target.text = String(value);
    else if (["children", "text"].includes(property) || ALLOWED.has(property)) target[property] = value;
    else throw new Error(`the page sets ${String(property)}`);
    return true;
  },
});

const places = {};
globalThis.document = {
  getElementById: (id) => (places[id] ??= element("div")),
  createElement: element,
  addEventListener() {},
  activeElement: null,
};
globalThis.location = { hash: "", pathname: "/console/" };
globalThis.EventSource = class { addEventListener() {} };

const page = await import(pathToFileURL(process.argv[2]));
const pictures = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(pictures.map((picture) => {
  page.show(picture);
  return Object.values(places).map((place) => place.dump());
})));
