// Generators that are entered while they run, ended while they end, and nested deeply.
let running;
function* reenter() { yield survives(() => running.next()); yield survives(() => running.return(1)); yield survives(() => running.throw(1)); }
running = reenter();
for (const outcome of running) assert(outcome instanceof TypeError, "re-entry is a TypeError");
function* stubborn() { for (let i = 0; i < 100; i++) try { yield i; } finally { yield -i; } }
const it = stubborn();
for (let i = 0; i < 300; i++) survives(() => [it.next(), it.return(i), it.throw(i)][i % 3]);
let nested = (function* () { yield 1; })();
for (let i = 0; i < 10_000; i++) { const inner = nested; nested = (function* () { yield* inner; })(); }
survives(() => [...nested]);
let helpers = [1, 2, 3].values();
for (let i = 0; i < 10_000; i++) helpers = helpers.map((x) => x);
survives(() => helpers.toArray());
let self;
self = Iterator.from({ next: () => self.next() });
survives(() => self.next());
const odd = { [Symbol.iterator]() { return this; }, next() { return { get done() { throw new TypeError("done"); } }; }, return() { throw new RangeError("return"); } };
assertThrows(TypeError, () => { for (const x of odd); });
assertThrows(TypeError, () => [...odd]);
for (const next of [undefined, null, 1, () => 1, () => undefined]) survives(() => [...{ [Symbol.iterator]: () => ({ next }) }]);
// A generator kept alive by nothing but itself, many times.
for (let i = 0; i < 100_000; i++) { const g = (function* () { yield g; })(); g.next(); }
// Returning into a finally that loops for a while.
function* slow() { try { yield 1; } finally { for (let i = 0; i < 1_000; i++) yield i; } }
for (const x of slow()) break;
const spread = { *[Symbol.iterator]() { yield* spread; } };
assertThrows(RangeError, () => [...spread]);
