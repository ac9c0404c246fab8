// Storms of jobs: they end, and nothing recurses natively.
let done = 0;
const MANY = 200_000;
let chain = Promise.resolve(0);
for (let i = 0; i < MANY; i++) chain = chain.then((n) => n + 1);
chain.then((n) => { assertEqual(n, MANY, "a chain of then"); done++; });
let nested = Promise.resolve("inner");
for (let i = 0; i < 50_000; i++) { const inner = nested; nested = new Promise((resolve) => resolve(inner)); }
nested.then((v) => { assertEqual(v, "inner", "promises of promises"); done++; });
(async () => { for (let i = 0; i < MANY; i++) await i; done++; })();
async function deep(n) { return n === 0 ? 0 : 1 + await deep(n - 1); }
deep(1_000).then((n) => { assertEqual(n, 1_000, "async recursion"); done++; });
deep(10_000_000).catch((error) => { assert(error instanceof RangeError, "async recursion that is too deep"); done++; });
Promise.all(Array.from({ length: 100_000 }, (_, i) => i)).then((all) => { assertEqual(all.length, 100_000, "all"); done++; });
Promise.any(Array.from({ length: 10_000 }, (_, i) => Promise.reject(i))).catch((error) => { assertEqual(error.errors.length, 10_000, "any"); done++; });
let count = 0;
const thenable = { then(resolve) { if (++count < 100_000) resolve(thenable); else resolve("end"); } };
Promise.resolve(thenable).then((v) => { assertEqual(v, "end", "thenables of thenables"); done++; });
const cyclic = new Promise((resolve) => queueMicrotask(() => resolve(cyclic)));
cyclic.catch((error) => { assert(error instanceof TypeError, "a promise of itself"); done++; });
(async () => { for await (const x of (async function* () { for (let i = 0; i < 50_000; i++) yield i; })()); done++; })();
const generator = (async function* () { for (;;) yield 1; })();
const asked = Array.from({ length: 10_000 }, () => generator.next());
generator.return();
Promise.all(asked).then(() => done++);
class Odd extends Promise { static get [Symbol.species]() { return function (executor) { executor(() => {}, () => {}); }; } then() { return 1; } }
survives(() => Odd.resolve(1).then());
survives(() => new Odd((resolve) => resolve(1)).finally(() => {}));
survives(() => Promise.prototype.then.call(Odd.resolve(1), () => {}));
const registry = new FinalizationRegistry((held) => { if (held % 1_000 === 0) registry.register({}, held + 1); });
for (let i = 0; i < 100_000; i++) registry.register({ i }, i, { token: i });
const refs = Array.from({ length: 50_000 }, (_, i) => new WeakRef({ i }));
const map = new WeakMap();
let key = {};
for (let i = 0; i < 100_000; i++) { const next = {}; map.set(key, next); key = next; }
function* timers() { for (let i = 0; i < 1_000; i++) yield new Promise((resolve) => setTimeout(resolve, 0)); }
Promise.all(timers()).then(() => done++);
setTimeout(() => assertEqual(done, 12, "everything ended"), 2_000);
