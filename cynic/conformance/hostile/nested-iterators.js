// Iterators over iterators over iterators: as deep as memory goes, a step of theirs ends, in a value or a RangeError.
const DEPTH = 100_000;
const layers = [
  (it) => it.map((x) => x),
  (it) => it.filter((x) => x),
  (it) => it.take(5).drop(0),
  (it) => it.flatMap((x) => [x]),
  (it) => Iterator.from({ __proto__: Iterator.prototype, next: it.next.bind(it) }),
  (it) => Iterator.concat(it),
];
for (const layer of layers) {
  let it = [1, 2].values();
  for (let i = 0; i < DEPTH; i++) it = layer(it);
  survives(() => it.next());
  survives(() => it.return());
  survives(() => it.toArray());
}
function* delegating(n) { if (n) yield* delegating(n - 1); else yield 1; }
function* looping(n) { for (const x of n ? looping(n - 1) : [1]) yield x; }
survives(() => [...delegating(DEPTH)]);
survives(() => [...looping(DEPTH)]);
const ouroboros = (function* () { yield* { [Symbol.iterator]() { return { next() { return ouroboros.next(); } }; } }; })();
survives(() => ouroboros.next());
const mutual = { next() { return { done: false, value: mutual.return() }; }, return() { return mutual.next(); }, [Symbol.iterator]() { return mutual; } };
survives(() => { for (const x of mutual) break; });
async function* asynchronous(n) { if (n) yield* asynchronous(n - 1); else yield 1; }
survives(async () => { for await (const x of asynchronous(1_000)); });
let bound = () => 1;
for (let i = 0; i < DEPTH; i++) bound = bound.bind(null, 1);
survives(() => bound());
let Derived = class {};
for (let i = 0; i < 10_000; i++) Derived = class extends Derived {};
survives(() => new Derived());
let nested = [];
for (let i = 0; i < DEPTH; i++) nested = [nested];
for (const act of [(x) => x.flat(Infinity), (x) => x.join(), String, (x) => x.toLocaleString(), JSON.stringify]) survives(() => act(nested));
const stack = new DisposableStack();
for (let i = 0; i < 10_000; i++) stack.defer(() => { throw i; });
const suppressed = survives(() => stack.dispose());
assert(suppressed instanceof SuppressedError, "errors of disposal");
