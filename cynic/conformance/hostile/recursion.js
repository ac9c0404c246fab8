// A million calls deep: in tail position constant space, elsewhere a RangeError that can be caught, again and again.
const MILLION = 1_000_000;
function count(n) { return n === 0 ? "done" : count(n - 1); }
assertEqual(count(MILLION), "done", "tail recursion");
const even = (n) => n === 0 || odd(n - 1), odd = (n) => n !== 0 && even(n - 1);
assertEqual(even(MILLION), true, "mutual tail recursion");
const method = { run(n) { return n ? this.run(n - 1) : n; } };
assertEqual(method.run(MILLION), 0, "methods");
function many(n, ...rest) { return n ? many(n - 1, ...rest, n & 1) && rest.length : rest.length; }
survives(() => many(500));
function ordinary(n) { return n === 0 ? 0 : 1 + ordinary(n - 1); }
for (let i = 0; i < 20; i++) assertThrows(RangeError, () => ordinary(MILLION));
assertEqual(ordinary(5_000), 5_000, "and then it still works");
// Every way back into the interpreter.
const again = () => (0, eval)("again() + 1");
const ways = {
  apply: function f() { return 1 + f.apply(this, arguments); },
  call: function f() { return 1 + f.call(this); },
  bind: function f() { return 1 + f.bind()(); },
  reflect: function f() { return 1 + Reflect.apply(f, null, []); },
  construct: function f() { return new f() && 1; },
  getter: () => { const o = { get x() { return this.x + 1; } }; return o.x; },
  setter: () => { const o = { set x(v) { this.x = v; } }; o.x = 1; },
  toString: () => { const o = { toString() { return "" + this; } }; return "" + o; },
  valueOf: () => { const o = { valueOf() { return this * 1; } }; return o * 1; },
  toPrimitive: () => { const o = { [Symbol.toPrimitive]() { return `${this}`; } }; return `${o}`; },
  map: function f() { return [1].map(f); },
  sort: function f() { return [1, 2].sort(f); },
  from: function f() { return Array.from([1], f); },
  replace: function f() { return "a".replace("a", f); },
  replaceRegExp: function f() { return "a".replace(/a/, f); },
  json: function f() { return JSON.parse("1", f); },
  stringify: () => { const o = { toJSON() { return JSON.stringify(o); } }; return JSON.stringify(o); },
  iterator: () => { const o = { [Symbol.iterator]() { return [...o]; } }; return [...o]; },
  generator: function* f() { yield* f(); },
  generatorRun: () => { function* f() { yield* f(); } return [...f()]; },
  proxyGet: () => { const p = new Proxy({}, { get(t, k, r) { return r[k]; } }); return p.x; },
  proxyApply: () => { const p = new Proxy(function () {}, { apply: () => p() }); return p(); },
  hasInstance: () => { const C = { [Symbol.hasInstance]: (v) => v instanceof C }; return 1 instanceof C; },
  species: () => { class A extends Array { static get [Symbol.species]() { return function () { return new A(1).map((x) => x); }; } } return new A(1).map((x) => x); },
  forEach: function f() { new Set([1]).forEach(f); },
  reduce: function f() { return [1, 2].reduce(f); },
  typed: function f() { return new Uint8Array(1).map(f); },
  date: () => { const d = { valueOf() { return new Date(d); } }; return new Date(d); },
  defineProperty: () => { const p = new Proxy({}, { defineProperty: (t, k, d) => Reflect.defineProperty(p, k, d) }); p.x = 1; },
  ownKeys: () => { const p = new Proxy({}, { ownKeys: () => Reflect.ownKeys(p) }); return Object.keys(p); },
  tag: function f() { return f`${1}` + 1; },
  evaluate: () => again(),
  staticBlock: function f() { return class { static { f(); } }; },
  field: function f() { class A { a = new A(); } return new A(); },
  super: () => { class A { m() { return this.m() + 1; } } class B extends A { m() { return super.m() + 1; } } return new B().m(); },
  destructuring: function f() { const { a = f() } = {}; return a; },
  parameter: function f(a = f()) { return a; },
  computed: function f() { return { [f()]: 1 }; },
};
for (const [name, way] of Object.entries(ways)) {
  const outcome = survives(way);
  const fine = outcome instanceof RangeError || name === "generator";
  assert(fine, `${name}: ${String(outcome)}`);
}
// Handlers that run where the stack has just ended.
let reached = 0;
function bottom() { try { bottom(); } catch (error) { reached++; throw error; } }
assertThrows(RangeError, bottom);
assert(reached > 100, "catch blocks on the way up");
