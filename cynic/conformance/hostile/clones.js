// structuredClone of what is deep, cyclic, shared a million times over, lying or changing under its hands.
const SIZE = 200_000;
const nests = [(n) => [n], (n) => ({ n }), (n) => new Map([[n, n]]), (n) => new Set([n]), (n) => new Error("x", { cause: n })];
for (const nest of nests) {
  let deep = 1;
  for (let i = 0; i < SIZE; i++) deep = nest(deep);
  survives(() => structuredClone(deep));
}
let shared = [1];
for (let i = 0; i < 60; i++) shared = [shared, shared];
const copy = structuredClone(shared);
assert(copy[0] === copy[1] && copy[0][0] === copy[1][1], "what is shared stays shared");
const cycle = [];
const map = new Map();
map.set(map, cycle);
cycle.push(cycle, [cycle], map);
const other = structuredClone(cycle);
assert(other !== cycle && other[0] === other && other[1][0] === other && other[2].get(other[2]) === other, "cycles");
const shrinking = [1, 2, 3];
Object.defineProperty(shrinking, 0, { get() { shrinking.length = 0; return 1; }, enumerable: true });
survives(() => structuredClone(shrinking));
const growing = new Map([[1, { get x() { growing.clear(); for (let i = 0; i < 1_000; i++) growing.set({}, i); return 1; } }]]);
survives(() => structuredClone(growing));
const buffer = new ArrayBuffer(8);
survives(() => structuredClone(buffer, { transfer: [buffer, buffer] }));
survives(() => structuredClone({ get a() { buffer.transfer(); return 1; }, buffer }, { transfer: [buffer] }));
survives(() => structuredClone(new Uint8Array(buffer)));
survives(() => structuredClone(new Proxy([], {})));
survives(() => structuredClone({ get a() { throw 1; } }));
survives(() => structuredClone({ get a() { return structuredClone(this); } }));
const long = [];
long.length = 2 ** 32 - 1;
survives(() => structuredClone(long));
for (const value of [Symbol(), () => {}, new WeakMap(), new WeakRef({}), Promise.resolve(), globalThis]) survives(() => structuredClone(value));
