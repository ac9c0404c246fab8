// Odd corners: frozen and lazy intrinsics, getters on prototypes of everything, with indices on Array.prototype.
const index = Object.defineProperty([], "9", { get() { return "from the prototype"; }, configurable: true });
Object.setPrototypeOf(index, Object.create(Array.prototype, { 3: { get() { index.length = 0; return 1; }, configurable: true } }));
for (const run of [(a) => a.map((x) => x), (a) => a.slice(), (a) => a.concat(a), (a) => a.sort(), (a) => a.join(), (a) => a.flat(), (a) => [...a], (a) => a.reverse(), (a) => a.indexOf(1), (a) => a.pop(), (a) => a.shift(), (a) => a.unshift(1), (a) => a.splice(2, 5), (a) => JSON.stringify(a), (a) => Math.max(...a)]) survives(() => run(index));
const map = new Map([[1, 1], [2, 2], [3, 3]]);
let steps = 0;
map.forEach((value, key) => { if (steps++ < 1_000) { map.delete(key); map.set(key, value); map.set({}, 1); } });
for (const entry of map) { map.clear(); map.set(1, 1); if (steps++ > 2_000) break; }
const set = new Set([1, 2, 3]);
for (const method of ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]) {
  for (const size of [0, 2, 100, Infinity, NaN, -1]) {
    let asked = 0;
    survives(() => set[method]({ size, has(v) { if (asked < 50) { set.clear(); set.add(v); } return asked++ % 2 === 0; }, keys() { set.add({}); return { next() { set.delete(1); return { value: asked, done: asked++ > 50 }; } }; } }));
  }
}
const error = new Error("deep");
let cause = error;
for (let i = 0; i < 100_000; i++) cause = new Error("cause", { cause });
assertEqual(typeof cause.stack, "string", "a stack");
let aggregate = new AggregateError([]);
for (let i = 0; i < 10_000; i++) aggregate = new AggregateError([aggregate, aggregate]);
survives(() => String(aggregate));
let list = null;
for (let i = 0; i < 500_000; i++) list = { list, i };
survives(() => structuredClone(list));
survives(() => globalThis.harden?.(list));
let tree = [];
for (let i = 0; i < 500_000; i++) tree = [tree];
assertThrows(RangeError, () => tree.flat(Infinity));
assertThrows(RangeError, () => String(tree));
const cyclic = [];
cyclic.push(cyclic, [cyclic]);
assertEqual(String(cyclic), ",", "a cyclic array joins as nothing");
const date = new Date(8.64e15);
survives(() => date.setFullYear(1e9));
survives(() => new Date(8.64e15 + 1).toISOString());
for (const zone of ["UTC", "", "x".repeat(100_000)]) survives(() => Temporal.ZonedDateTime.from("2020-01-01T00:00[" + zone + "]"));
survives(() => Temporal.Duration.from("P" + "9".repeat(100_000) + "D"));
survives(() => Date.parse("9".repeat(1_000_000)));
survives(() => Number("1" + "0".repeat(1_000_000)));
survives(() => parseFloat("." + "1".repeat(1_000_000)));
survives(() => (0.1).toString(2).repeat(1_000));
survives(() => (1e21).toFixed(100));
survives(() => Number.MAX_VALUE.toString(36));
survives(() => decodeURIComponent("%".repeat(1_000_000)));
survives(() => encodeURIComponent("\ud800".repeat(1_000)));
survives(() => "x".normalize("x".repeat(1_000_000)));
survives(() => Symbol.for("x".repeat(10_000_000)).description.length);
survives(() => Object.defineProperty(function () {}, "name", { get() { return this.name; } }).name);
survives(() => { class A { static #a = 1; static m(o) { return o.#a; } } return A.m(new Proxy(A, {})); });
survives(() => { const o = {}; Object.defineProperty(o, "x", { get: () => Object.defineProperty(o, "x", { value: 1 }) && o.x, configurable: true }); return o.x; });
survives(() => { using resource = { [Symbol.dispose]() { throw new Error("dispose"); } }; throw new TypeError("body"); });
survives(() => { const stack = new DisposableStack(); for (let i = 0; i < 10_000; i++) stack.defer(() => { throw new Error(i); }); stack.dispose(); });
