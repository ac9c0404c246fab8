// Argument lists, bound functions, spread, prototype chains and shapes of absurd size.
assertThrows(RangeError, () => Math.max.apply(null, { length: 2 ** 32 }));
assertThrows(RangeError, () => Math.max.apply(null, Array(10_000_000)));
assertThrows(RangeError, () => Reflect.apply(Math.max, null, { length: 2 ** 53 - 1 }));
assertThrows(RangeError, () => Math.max(...Array(500_000)));
assertThrows(RangeError, () => new (class { constructor(...rest) {} })(...Array(500_000)));
let bound = () => 1;
for (let i = 0; i < 100_000; i++) bound = bound.bind(null, 1);
survives(() => bound());
survives(() => new bound());
survives(() => ({}) instanceof bound);
survives(() => bound.name);
let chain = {};
for (let i = 0; i < 200_000; i++) chain = Object.create(chain);
assertEqual(chain.missing, undefined, "a long prototype chain");
chain.found = 1;
assertEqual("missing" in chain, false, "has");
assertEqual(chain instanceof Array, false, "instanceof");
for (const key in chain) assertEqual(key, "found", "for-in");
chain = null;
// Many properties, many shapes, many symbols.
const wide = {};
for (let i = 0; i < 200_000; i++) wide["p" + i] = i;
for (let i = 0; i < 200_000; i += 2) delete wide["p" + i];
assertEqual(Object.keys(wide).length, 100_000, "a wide object");
for (let i = 0; i < 50_000; i++) ({ ["a" + i]: 1, ["b" + i]: 2 });
const symbols = {};
for (let i = 0; i < 50_000; i++) symbols[Symbol(i)] = i;
assertEqual(Object.getOwnPropertySymbols(symbols).length, 50_000, "symbols");
class Deep0 {}
let Class = Deep0;
for (let i = 0; i < 5_000; i++) { const Base = Class; Class = class extends Base {}; }
survives(() => new Class());
// Arguments that change while they are read.
function args() { arguments.length = 100; return Math.max.apply(null, arguments); }
survives(() => args(1, 2, 3));
survives(() => Math.max(...{ *[Symbol.iterator]() { for (let i = 0; i < 1_000; i++) yield { valueOf() { throw new TypeError("no"); } }; } }));
// Tagged templates, default parameters and destructuring with many parts.
survives(() => String.raw`${1}`.length);
survives(() => (0, eval)("(" + Array.from({ length: 100 }, (_, i) => `a${i} = a${Math.max(0, i - 1)}`).join() + ") => 1")());
assertThrows(RangeError, () => new (class { constructor(...a) {} })(...Array(1e7)), "ten million arguments");
