// Buffers that are detached or resized in the middle of every native that can call back.
const TYPES = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float16Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array];
const acts = [
  (b) => b.transfer(), (b) => b.resize(0), (b) => b.resize(8), (b) => b.resize(b.maxByteLength), (b) => structuredClone(b, { transfer: [b] }), (b) => b.transferToFixedLength(4), (b) => b.slice(),
];
const value = (act, v = 1) => ({ valueOf() { act(); return v; } });
const natives = [
  (t, act) => t.fill(value(act, t instanceof BigInt64Array || t instanceof BigUint64Array ? 1n : 1)), (t, act) => t.fill(t[0], value(act), 9),
  (t, act) => t.set([value(act), 1, 2], 1), (t, act) => t.set({ get length() { act(); return 3; }, 0: t[0] }), (t, act) => t.set(t.subarray(1), value(act)), (t, act) => t.subarray(value(act), 5),
  (t, act) => t.slice(value(act), 9), (t, act) => t.copyWithin(value(act), 1, value(act, 9)), (t, act) => t.sort((a, b) => (act(), a < b ? -1 : 1)), (t, act) => t.toSorted((a, b) => (act(), 1)),
  (t, act) => t.map((x) => (act(), x)), (t, act) => t.filter(() => (act(), true)), (t, act) => t.forEach(act), (t, act) => t.reduce((a, x) => (act(), x)), (t, act) => t.indexOf(t[0], value(act)),
  (t, act) => t.lastIndexOf(t[0], value(act)), (t, act) => t.includes(undefined, value(act)), (t, act) => t.join({ toString() { act(); return ","; } }), (t, act) => t.at(value(act)),
  (t, act) => t.with(value(act), t[0]), (t, act) => t.find(act), (t, act) => t.findLast(act), (t, act) => { for (const x of t) act(); }, (t, act) => t.constructor.from(t, (x) => (act(), x)),
  (t, act) => { t[0] = value(act, 1); }, (t, act) => { t[value(act)] = t[0]; }, (t, act) => Object.defineProperty(t, 0, { value: value(act), configurable: true, enumerable: true, writable: true }), (t, act) => Reflect.set(t, 1, value(act)),
  (t, act) => new t.constructor(t.buffer, value(act, 0), value(act, 1)), (t, act) => new DataView(t.buffer, value(act, 0), value(act, 4)), (t, act) => new DataView(t.buffer).setFloat64(value(act, 0), value(act)),
  (t, act) => new DataView(t.buffer).getInt32(value(act, 4)), (t, act) => new DataView(t.buffer).setBigInt64(0, value(act, 1n)), (t, act) => t.buffer.slice(value(act, 0), value(act, 8)), (t, act) => t.buffer.resize(value(act, 16)),
  (t, act) => t.buffer.transfer(value(act, 16)), (t, act) => Atomics.add(t, value(act), value(act, 1)), (t, act) => Atomics.store(t, 0, value(act)), (t, act) => Atomics.compareExchange(t, 0, value(act), value(act)),
  (t, act) => Atomics.notify(t, value(act)), (t, act) => Array.prototype.concat.call([], t, { get length() { act(); return 1; }, [Symbol.isConcatSpreadable]: true }), (t, act) => Array.prototype.sort.call(t, () => (act(), 1)),
  (t, act) => Array.prototype.splice.call(t, value(act), 1), (t, act) => Array.prototype.flat.call([t, [value(act)]]), (t, act) => Object.freeze(Object.defineProperty({}, "x", { get: act })) && Object.freeze(t),
  (t, act) => { const i = t[Symbol.iterator](); i.next(); act(); i.next(); i.next(); }, (t, act) => { t.constructor = { get [Symbol.species]() { act(); return Uint8Array; } }; t.slice(0, 4); },
  (t, act) => { t.constructor = { [Symbol.species]: function (n) { act(); return new Uint8Array(t.buffer.detached ? n : t.buffer); } }; t.slice(0, 8); t.map((x) => x); t.filter(() => true); t.subarray(1); },
  (t, act) => { new Uint8Array({ [Symbol.iterator]: function* () { yield 1; act(); yield 2; } }); }, (t, act) => new Uint8Array(t.buffer).setFromHex?.({ toString() { act(); return "00"; } }), (t, act) => new Uint8Array(t.buffer).toBase64?.({ get alphabet() { act(); } }),
  (t, act) => new Uint8Array(t.buffer).setFromBase64?.("AAAA", { get lastChunkHandling() { act(); } }), (t, act) => JSON.stringify(t, (k, v) => (act(), v)), (t, act) => Object.entries(t).forEach(act), (t, act) => structuredClone({ get a() { act(); return 1; }, t }),
  (t, act) => { const f = t.subarray(2); act(); f[0] = f[1]; f.fill(f[0]); f.set([f[0]]); return f.length + f.byteOffset; }, (t, act) => { act(); t.buffer.resize?.(64); return t.length; }, (t, act) => String.fromCharCode.apply(null, { get length() { act(); return 2; }, 0: 65 }),
  (t, act) => Reflect.apply(() => act(), null, t), (t, act) => { const { 0: a, 1: b, ...rest } = t; act(); }, (t, act) => t.entries().map(act).toArray(), (t, act) => Math.max(...t, value(act)),
];
for (const Type of TYPES) for (const native of natives) for (const act of acts) {
  for (const make of [() => new Type(new ArrayBuffer(64, { maxByteLength: 256 })), () => new Type(new ArrayBuffer(64, { maxByteLength: 256 }), 8, 2), () => new Type(16), () => new Type(new SharedArrayBuffer(64, { maxByteLength: 128 }))]) {
    const typed = survives(make);
    let calls = 0;
    survives(() => native(typed, () => { if (++calls < 20) survives(() => act(typed.buffer)); return 0; }));
  }
}
// Sizes that cannot be.
for (const n of [-1, 2 ** 32, 2 ** 53, 2 ** 53 - 1, Infinity, NaN, 1e30]) {
  for (const make of [(n) => new ArrayBuffer(n), (n) => new SharedArrayBuffer(n), (n) => new ArrayBuffer(0, { maxByteLength: n }), (n) => new Float64Array(n), (n) => new Uint8Array(new ArrayBuffer(8), n), (n) => new DataView(new ArrayBuffer(8), n),
    (n) => new DataView(new ArrayBuffer(8), 0, n), (n) => new ArrayBuffer(8).transfer(n), (n) => new ArrayBuffer(8, { maxByteLength: 16 }).resize(n), (n) => new Uint8Array(8).subarray(n, n + 1).length, (n) => new DataView(new ArrayBuffer(8)).getFloat64(n), (n) => Atomics.load(new Int32Array(4), n)]) {
    const outcome = n === 2 ** 32 ? undefined : survives(() => make(n));
    assert(!(outcome instanceof Error) || outcome instanceof RangeError || outcome instanceof TypeError, `${make}: ${outcome}`);
  }
}
