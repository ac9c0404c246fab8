// The guest's side of `metered_builtins.rs`: every function that can be reached, large receivers and arguments for them, and the
// operators of the language as functions. `names`, `count`, `prepare(i, round)` and `perform()` are what the test uses.
"use strict";
const N = SCALE;
const found = [];
{
  // What compiles has bombs of its own, and tests for them; the console writes.
  const compilers = [function () {}, function* () {}, async function () {}, async function* () {}].map((f) => Object.getPrototypeOf(f).constructor);
  const seen = new Set([print, console, eval, ...compilers]);
  const walk = (o, path) => {
    if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o)) return;
    seen.add(o);
    if (typeof o === "function") found.push([path, o]);
    for (const key of Reflect.ownKeys(o)) {
      const name = `${path}.${String(key)}`;
      const row = Reflect.getOwnPropertyDescriptor(o, key);
      if ("value" in row) walk(row.value, name);
      else {
        walk(row.get, `get ${name}`);
        walk(row.set, `set ${name}`);
      }
    }
    walk(Reflect.getPrototypeOf(o), `${path}.__proto__`);
  };
  for (const name of Reflect.ownKeys(globalThis)) if (typeof name === "string" && !/^(print|console|found|N|SCALE)$/.test(name)) walk(globalThis[name], name);
  const hidden = {
    arrayIterator: [].values(), mapIterator: new Map().keys(), setIterator: new Set().keys(), stringIterator: ""[Symbol.iterator](),
    regExpIterator: "".matchAll(/a/g), generator: (function* () {})(), asyncGenerator: (async function* () {})(),
    iteratorHelper: [].values().map((x) => x), wrapped: Iterator.from({ next() {} }), asyncFunction: async function () {},
    params: new URLSearchParams().keys(), typed: Object.getPrototypeOf(Uint8Array),
  };
  for (const name in hidden) walk(hidden[name], name);
}

// What does not go through a function of the library.
const operators = {
  "===": function (a) { return this === a; },
  "==": function (a) { return this == a; },
  "<": function (a) { return this < a; },
  "+": function (a) { return this + a; },
  "+ flattened": function (a) { return (this + a).charCodeAt(5); },
  "-": function (a) { return this - a; },
  "*": function (a) { return this * a; },
  "/": function (a) { return this / a; },
  "%": function (a) { return this % a; },
  "**": function (a) { return this ** a; },
  "<<": function (a) { return this << a; },
  ">>": function (a) { return this >> a; },
  "&": function (a) { return this & a; },
  "|": function (a) { return this | a; },
  "^": function (a) { return this ^ a; },
  "~": function () { return ~this; },
  "unary -": function () { return -this; },
  "unary +": function () { return +this; },
  "in": function (a) { return a in Object(this); },
  "key": function (a) { return Object(this)[a]; },
  "key of a new object": function () { return { [this]: 1 }; },
  "delete": function (a) { const o = { [this]: 1 }; return delete o[a]; },
  "template": function (a) { return `${this}${a}`; },
  "switch": function (a) { switch (a) { case this: return 1; default: return 2; } },
  "array spread": function () { return [...this]; },
  "array spread and one": function (a) { return [...this, a]; },
  "object spread": function () { return { ...this }; },
  "object rest": function () { const { length, ...rest } = this; return rest; },
  "array rest": function () { const [a, ...rest] = this; return rest; },
  "spread call": function () { return Math.max(...this); },
  "for of": function () { let n = 0; for (const x of this) n++; return n; },
  "for in": function () { let n = 0; for (const x in this) n++; return n; },
  "typeof": function () { return typeof this; },
  "length": function () { return this.length; },
  "length = 0": function () { this.length = 0; },
  "class extends": function () { return class extends this {}; },
  "instanceof": function (a) { return a instanceof this; },
};
for (const calendar of ["iso8601", "gregory", "japanese", "buddhist", "roc", "coptic", "ethiopic", "ethioaa", "hebrew", "indian", "persian", "islamic-civil", "islamic-tbla", "islamic-umalqura", "chinese", "dangi"])
  for (const largestUnit of ["days", "months", "years"]) {
    const ends = () => [new Temporal.PlainDate(-271821, 4, 20, calendar), new Temporal.PlainDate(275760, 9, 12, calendar)];
    operators[`until in ${largestUnit} of ${calendar}`] = function () {
      const [first, last] = ends();
      last.since(first, { largestUnit, smallestUnit: largestUnit });
      first.until(last, { largestUnit });
    };
    operators[`add ${largestUnit} of ${calendar}`] = function () {
      const [first] = ends();
      first.add({ [largestUnit]: { days: 200000000, months: 6400000, years: 540000 }[largestUnit] });
    };
  }
for (const calendar of ["chinese", "dangi"])
  for (const largestUnit of ["days", "months", "years"])
    operators[`until in ${largestUnit} of ${calendar}, 2400 years`] = function () {
      const [first, last] = [new Temporal.PlainDate(0, 4, 20, calendar), new Temporal.PlainDate(2400, 9, 12, calendar)];
      first.until(last, { largestUnit });
    };
for (const name in operators) found.push([name, operators[name]]);

const big = "abcdefghijklmnop".repeat(N / 16);
const other = "abcdefghijklmnop".repeat(N / 16 - 1) + "abcdefghijklmnoq";
const wide = "\u0430\u0431\u0301\u{1f600}".repeat(N / 8);
const digits = "1234567890".repeat(N / 10);
const numbers = () => Array.from({ length: N / 16 }, (_, i) => i);
const strings = numbers().map((i) => `k${i}`);
const object = () => Object.fromEntries(strings.slice(0, N / 32).map((k, i) => [k, i]));
const bytes = () => new Uint8Array(N).fill(97);
const huge = (1n << 4194303n) - 1n;

// Makers: what is cheap is made for each call; the rest is kept and made anew when a call has changed its size.
const makers = {
  "a long string": () => big,
  "a long string with upper case": () => kept("upper", () => "ABCDEFGHIJKLMNOp".repeat(N / 16)),
  "a long wide string": () => wide,
  "a rope": () => big + other,
  "a wide rope": () => wide + big,
  "a deep rope": () => kept("deep", () => { let s = ""; for (let i = 0; i < 3000; i++) s = "abcdefghijklmnopqrstuvwxyz".repeat(30) + s; return s; }),
  "digits": () => digits,
  "spaces": () => kept("spaces", () => " ".repeat(N)),
  "commas": () => kept("commas", () => "a,".repeat(N / 2)),
  "percent": () => kept("percent", () => "%41".repeat(N / 3 | 0)),
  "JSON": () => kept("JSON", () => "[" + "1,[".repeat(10) + "1,".repeat(N / 2) + "1" + "]".repeat(11)),
  "a URL": () => kept("URL text", () => "http://a.b/?" + "a=b&".repeat(N / 4)),
  "a pattern": () => kept("pattern", () => "(a|b)*c".repeat(N / 64)),
  "an array": () => kept("array", numbers),
  "an array of strings": () => strings,
  "an array with holes": () => kept("holes", () => { const a = numbers(); delete a[1]; return a; }),
  "an array-like": () => ({ length: Number.MAX_SAFE_INTEGER, 0: 1 }),
  "an object": () => kept("object", object),
  "bytes": () => kept("bytes", bytes),
  "doubles": () => kept("doubles", () => new Float64Array(N / 8)),
  "a buffer": () => kept("buffer", () => bytes().buffer),
  "a resizable buffer": () => kept("resizable", () => new ArrayBuffer(N, { maxByteLength: 2 * N })),
  "a shared buffer": () => kept("shared", () => new SharedArrayBuffer(N, { maxByteLength: 2 * N })),
  "a view": () => kept("view", () => new DataView(new ArrayBuffer(N))),
  "a large BigInt": () => huge,
  "a negative BigInt": () => -huge,
  "half a BigInt": () => kept("half", () => huge >> 2097152n),
  "a map": () => kept("map", () => new Map(numbers().map((i) => [i, i]))),
  "a map of long keys": () => kept("long keys", () => new Map([1, 2, 3].map((i) => [big + i, i]))),
  "a set": () => kept("set", () => new Set(numbers())),
  "a weak map": () => kept("weak map", () => new WeakMap(numbers().map((i) => [{}, i]))),
  "a URL object": () => kept("URL", () => new URL("http://a.b/?" + "a=b&".repeat(N / 16))),
  "parameters": () => kept("parameters", () => new URLSearchParams("a=b&".repeat(N / 16))),
  "an encoder": () => new TextEncoder(),
  "a decoder": () => new TextDecoder(),
  "a UTF-16 decoder": () => new TextDecoder("utf-16le"),
  "a regular expression": () => /a(b|c)*/g,
  "a date": () => new Date(8.64e15),
  "a function": () => (x) => x,
  "a bound function": () => ((x) => x).bind(null, ...strings.slice(0, 1000)),
  "an iterator": () => strings.values(),
  "a helper": () => strings.values().map((x) => x),
  "a generator": () => (function* () { for (;;) yield 1; })(),
  "a promise": () => Promise.resolve(1),
  "a symbol": () => Symbol(big),
  "an error": () => new Error(big),
  "an instant": () => Temporal.Instant.from("1970-01-01T00:00Z"),
  "a plain date": () => new Temporal.PlainDate(-271821, 4, 20),
  "a late date": () => new Temporal.PlainDate(275760, 9, 12),
  "a Chinese date": () => new Temporal.PlainDate(2000, 1, 1, "chinese"),
  "a Hebrew date": () => new Temporal.PlainDate(-271821, 4, 20, "hebrew"),
  "a late Hebrew date": () => new Temporal.PlainDate(275760, 9, 12, "hebrew"),
  "an Islamic date": () => new Temporal.PlainDate(275760, 9, 12, "islamic-umalqura"),
  "a plain date and time": () => new Temporal.PlainDateTime(-271821, 4, 20),
  "a month": () => new Temporal.PlainYearMonth(275760, 8),
  "a day of a month": () => new Temporal.PlainMonthDay(2, 29),
  "a time": () => new Temporal.PlainTime(23, 59),
  "a duration": () => new Temporal.Duration(1000000, 1000000, 1000000, 1000000),
  "a zoned time": () => new Temporal.ZonedDateTime(-8640000000000000000000n, "Europe/Berlin"),
  "a late zoned time": () => new Temporal.ZonedDateTime(8640000000000000000000n, "America/New_York"),
  "days": () => ({ largestUnit: "days", smallestUnit: "nanoseconds" }),
  "months": () => ({ largestUnit: "months", smallestUnit: "days" }),
  "undefined": () => undefined,
  "null": () => null,
  "true": () => true,
  "zero": () => 0,
  "one": () => 1,
  "minus one": () => -1,
  "a middle": () => N / 2,
  "a large number": () => 2 ** 32 - 1,
  "an enormous number": () => Number.MAX_SAFE_INTEGER,
  "infinity": () => Infinity,
  "one character": () => "a",
  "the last characters": () => "opabcq",
  "a plain object": () => ({}),
};
const kinds = Object.keys(makers);
// These also come as first arguments of every function, whatever the receiver.
const pool = new Map();
function kept(name, make) {
  let known = pool.get(name);
  if (known === undefined || size(known.value) !== known.size) {
    const value = make();
    known = { value, size: size(value) };
    pool.set(name, known);
  }
  return known.value;
}
function size(v) {
  return v.byteLength ?? v.length ?? v.size ?? (v instanceof URL ? v.href.length : 0);
}

let f, receiver, values, constructs;
// Each round pairs a receiver with other arguments; the rounds after one another go through all receivers.
function prepare(index, round) {
  f = found[index][1];
  const at = (n) => kinds[n % kinds.length];
  const step = index * 7 + round * 31 + Math.floor(round / kinds.length) * 17;
  const names = [at(round), at(step), at(step * 5 + 3), at(step * 11 + round)];
  constructs = round % 5 === 4;
  receiver = makers[names[0]]();
  values = round % 7 === 6 ? [] : names.slice(1).map((name) => makers[name]());
  // A method meets arguments like its receiver often.
  if (round % 3 === 0 && values.length > 0) values[0] = makers[names[0]]();
  return `${found[index][0]} on ${names[0]} with ${values.length === 0 ? "nothing" : round % 3 === 0 ? "the same, " + names.slice(2) : names.slice(1)}${constructs ? ", constructing" : ""}`;
}
function perform() {
  try {
    if (constructs) Reflect.construct(f, [receiver, ...values]);
    else Reflect.apply(f, receiver, values);
  } catch {}
}
