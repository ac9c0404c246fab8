// Proxies in every trap: handlers that recurse, lie, throw, mutate, and are revoked in the middle.
const TRAPS = ["get", "set", "has", "deleteProperty", "ownKeys", "getOwnPropertyDescriptor", "defineProperty",
  "getPrototypeOf", "setPrototypeOf", "isExtensible", "preventExtensions", "apply", "construct"];
const uses = [
  (p) => p.x, (p) => { p.x = 1; }, (p) => "x" in p, (p) => delete p.x, (p) => Object.keys(p), (p) => ({ ...p }),
  (p) => { for (const k in p); }, (p) => Object.getOwnPropertyDescriptors(p), (p) => Object.defineProperty(p, "y", { value: 1 }),
  (p) => Object.getPrototypeOf(p), (p) => Object.setPrototypeOf(p, null), (p) => Object.isExtensible(p), (p) => Object.preventExtensions(p),
  (p) => p(1, 2), (p) => new p(1), (p) => Object.freeze(p), (p) => Object.isFrozen(p), (p) => Array.isArray(p), (p) => JSON.stringify(p),
  (p) => [].concat(p), (p) => [...p], (p) => String(p), (p) => p + 1, (p) => p instanceof Object, (p) => ({}) instanceof p,
  (p) => Object.assign({}, p), (p) => Object.assign(p, { a: 1 }), (p) => Array.prototype.sort.call(p), (p) => Array.prototype.splice.call(p, 0, 1),
  (p) => structuredClone(p), (p) => new Map(p), (p) => Promise.resolve(p), (p) => Reflect.ownKeys(p), (p) => Object.prototype.toString.call(p),
  (p) => new Proxy(p, {}).x, (p) => class extends p {}, (p) => Object.create(p).x, (p) => Array.from(p), (p) => new Uint8Array(p),
  (p) => Object.groupBy(p, (x) => x), (p) => { const { a, ...rest } = p; }, (p) => p.constructor, (p) => Function.prototype.toString.call(p),
  (p) => new Error("m", p), (p) => Reflect.construct(Object, [], p), (p) => Function.prototype.bind.call(p), (p) => globalThis.harden?.(p),
  (p) => Object.entries(p), (p) => Object.fromEntries(p), (p) => new (class extends Object { constructor() { return p; } #x = 1; })(),
];
const targets = [() => ({ x: 1, y: [] }), () => [1, 2, 3], () => function f() {}, () => class {}, () => Object.freeze({ x: 1 }), () => new Uint8Array(4)];
function every(handlerOf) {
  for (const target of targets) for (const use of uses) survives(() => use(handlerOf(target())));
}
// Every trap recurses into the proxy itself.
every((target) => {
  const handler = {};
  const proxy = new Proxy(target, handler);
  for (const trap of TRAPS) handler[trap] = (...args) => { args[0] = proxy; return Reflect[trap](...args); };
  return proxy;
});
// Every trap throws; every trap lies with each of a few answers.
every((target) => new Proxy(target, Object.fromEntries(TRAPS.map((trap) => [trap, () => { throw new TypeError(trap); }]))));
for (const lie of [undefined, null, 0, "x", {}, [], true, [1, 2], ["a", "a"], { value: 1 }, Symbol.iterator, () => 1, { length: 2 ** 53 }]) {
  every((target) => new Proxy(target, Object.fromEntries(TRAPS.map((trap) => [trap, () => lie]))));
}
// Every trap revokes the proxy and goes on.
every((target) => {
  const handler = {};
  const { proxy, revoke } = Proxy.revocable(target, handler);
  for (const trap of TRAPS) handler[trap] = (...args) => { revoke(); return Reflect[trap](...args); };
  return proxy;
});
// Revoked from the start.
every((target) => { const { proxy, revoke } = Proxy.revocable(target, {}); revoke(); return proxy; });
// The handler is a proxy whose handler is a proxy, and itself.
every((target) => new Proxy(target, new Proxy({}, { get: (t, trap) => Reflect[trap] })));
every((target) => { const handler = Object.create(new Proxy({}, { get: (t, k, r) => r[k] })); return new Proxy(target, handler); });
every((target) => { const handler = {}; const proxy = new Proxy(target, handler); Object.setPrototypeOf(handler, proxy); return proxy; });
// A tower of proxies.
let tower = function () {};
for (let i = 0; i < 100_000; i++) tower = new Proxy(tower, {});
for (const use of uses) survives(() => use(tower));
let odd = {};
for (let i = 0; i < 100_000; i++) odd = i % 2 ? new Proxy(odd, {}) : Object.create(odd);
for (const use of uses) survives(() => use(odd));
// A cycle through a prototype trap.
const loop = {};
Object.setPrototypeOf(loop, new Proxy({}, { getPrototypeOf: () => loop }));
survives(() => loop.missing);
