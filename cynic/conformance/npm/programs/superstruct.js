import { object, string, number, array, optional, define, create, assert, defaulted, coerce, StructError, union, refine, mask } from "superstruct";
const Even = define("Even", (v) => typeof v === "number" && v % 2 === 0);
const S = object({ a: string(), n: Even, l: array(union([string(), number()])), d: defaulted(optional(number()), 5), c: coerce(number(), string(), (s) => parseFloat(s)) });
console.log(create({ a: "x", n: 2, l: ["a", 1], c: "2.5" }, S), mask({ a: "x", n: 4, l: [], c: 1, d: 1, extra: true }, S));
try { assert({ a: 1, n: 3, l: [null], c: 2 }, S); } catch (e) { console.log(e instanceof StructError, e.message, e.failures().map((f) => [f.path, f.type])); }
console.log(refine(string(), "short", (s) => s.length < 3).validate("long").map((e) => e && e.message));
