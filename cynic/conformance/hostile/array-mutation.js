// Natives that call back, while the callback shortens, lengthens, freezes, thins out or detaches what they work on.
const mutations = [
  (a) => { a.length = 0; }, (a) => { a.length = 3; }, (a) => { a.length = 2_000; }, (a) => a.push(1, 2, 3), (a) => a.pop(), (a) => a.shift(),
  (a) => a.unshift(9), (a) => a.splice(1, 2), (a) => a.reverse(), (a) => a.fill({}), (a) => { delete a[1]; }, (a) => { a[100_000] = 1; },
  (a) => Object.freeze(a), (a) => Object.seal(a), (a) => Object.preventExtensions(a), (a) => Object.defineProperty(a, 2, { get() { return a.length = 1; }, configurable: true }),
  (a) => Object.defineProperty(a, "length", { writable: false }), (a) => a.sort(), (a) => Object.setPrototypeOf(a, null), (a) => Object.setPrototypeOf(a, new Proxy([], {})),
  (a) => { a.constructor = { [Symbol.species]: function () { return a; } }; }, (a) => { a.constructor = undefined; }, (a) => a.copyWithin(0, 2),
];
const value = (act) => ({ valueOf() { act(); return 1; }, toString() { act(); return "s"; } });
const natives = [
  (a, act) => a.sort((x, y) => { act(); return x - y; }),
  (a, act) => { a[3] = { toString() { act(); return "t"; } }; a.sort(); },
  (a, act) => a.toSorted((x, y) => { act(); return y - x; }),
  (a, act) => a.map(act), (a, act) => a.filter(act), (a, act) => a.forEach(act), (a, act) => a.find(act), (a, act) => a.findLastIndex(act),
  (a, act) => a.some((x) => act(x) && false), (a, act) => a.every((x) => act(x) || true), (a, act) => a.reduce((x, y) => (act(), y)),
  (a, act) => a.reduceRight((x, y) => (act(), y)), (a, act) => a.flatMap((x) => (act(), [x, x])),
  (a, act) => a.splice(value(act), value(act), 7, 8, 9), (a, act) => a.slice(value(act), 5), (a, act) => a.fill(value(act), value(act), 9),
  (a, act) => a.copyWithin(value(act), 1, 4), (a, act) => a.indexOf(1, value(act)), (a, act) => a.lastIndexOf(1, value(act)),
  (a, act) => a.includes(1, value(act)), (a, act) => a.at(value(act)), (a, act) => a.with(value(act), 5), (a, act) => a.toSpliced(value(act), 1, 2),
  (a, act) => a.join({ toString() { act(); return "-"; } }), (a, act) => { a[2] = { toString() { act(); return ""; } }; return a.join(); },
  (a, act) => { a[2] = { toString() { act(); return ""; } }; return String(a); }, (a, act) => { a[2] = { toLocaleString() { act(); } }; return a.toLocaleString(); },
  (a, act) => { a[1] = { get [Symbol.isConcatSpreadable]() { act(); return true; }, length: 3 }; return [0].concat(a, a[1], a); },
  (a, act) => { const b = [1, 2]; Object.defineProperty(b, 1, { get() { act(); return 5; } }); return a.concat(b, a); },
  (a, act) => { a[2] = new Proxy([1, 2], { get(t, k) { act(); return t[k]; } }); return a.flat(3); },
  (a, act) => { for (const x of a) { act(); if (a.length > 300) break; } }, (a, act) => { for (const k in a) act(); },
  (a, act) => Array.from(a, (x) => (act(), x)), (a, act) => [...a].map(act), (a, act) => Math.max(...a, value(act)),
  (a, act) => { const [x = act(), y, ...z] = a; }, (a, act) => Object.assign(a, { get 0() { act(); return 1; } }), (a, act) => Object.entries(a).forEach(act),
  (a, act) => JSON.stringify(a, (k, v) => (act(), v)), (a, act) => { a[1] = { toJSON() { act(); return 1; } }; return JSON.stringify(a); },
  (a, act) => structuredClone(Object.defineProperty(a, 1, { get() { act(); return 1; }, enumerable: true })), (a, act) => new Set(a).forEach(act),
  (a, act) => Array.prototype.push.call(a, value(act), a), (a, act) => Reflect.apply(act, null, a), (a, act) => a.keys().map(act).toArray(),
  (a, act) => { const i = a[Symbol.iterator](); for (let n = 0; n < 20; n++) { i.next(); act(); } }, (a, act) => Object.groupBy(a, () => (act(), "k")),
  (a, act) => { a.length = value(act); }, (a, act) => Object.defineProperty(a, "length", { get value() { act(); return 2; } }), (a, act) => a.entries().drop(1).take(9).forEach(act),
];
const makers = [
  () => [5, 3, 1, 4, 2, 9, 8, 7, 6, 0], () => [1, , 3, , 5, , 7, , 9, ,], () => Array.from({ length: 200 }, (_, i) => i * 7 % 13), () => [1.5, "a", null, {}, [], 0, -0, NaN],
  () => { const a = [1, 2, 3]; a[50_000] = 4; return a; }, () => Object.assign(new (class extends Array {})(), [3, 2, 1, 0]), () => new Proxy([4, 3, 2, 1], {}),
  () => ({ __proto__: Array.prototype, length: 6, 0: 1, 1: 2, 5: 3 }),
];
for (const native of natives) for (const make of makers) for (const mutate of mutations) {
  const array = make();
  let calls = 0;
  survives(() => native(array, () => { if (++calls <= 50) survives(() => mutate(array)); return 0; }));
}
// Species that hands out what it should not.
for (const made of [() => [], () => new Proxy([], {}), () => Object.freeze([]), () => new Uint8Array(2), () => null, () => 1, () => globalThis, () => new String("abc")]) {
  for (const run of [(a) => a.map((x) => x), (a) => a.filter(() => true), (a) => a.slice(), (a) => a.splice(0, 2), (a) => a.concat([1]), (a) => a.flat(), (a) => a.flatMap((x) => [x])]) {
    class Odd extends Array { static get [Symbol.species]() { return function () { return made(); }; } }
    survives(() => run(Odd.of(1, 2, 3, 4)));
  }
}
const self = [1, 2, 3];
self.constructor = { [Symbol.species]: function () { return self; } };
survives(() => self.map((x) => self.push(x)));
survives(() => self.splice(0, 2, 5, 6, 7));
survives(() => self.concat(self, self));
