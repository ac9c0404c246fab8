// Calls everything that can be reached from the global object and shows what comes back: two runs must print the same.
const seen = new Set();
const skipped = new Set([globalThis.setInterval, globalThis.print, ...Object.values(console)]);
let calls = 0;

function show(value) {
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "symbol") return value.toString();
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Date) return `Date ${value.getTime()} ${String(value)}`;
  if (value instanceof Error) return `${value.name}: ${value.message} ${value.stack}`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return `${value.constructor.name} ${Array.prototype.join.call(value)}`;
  if (value instanceof Event) return `Event ${value.type} ${value.timeStamp}`;
  try {
    return `${Object.prototype.toString.call(value)} ${value} ${JSON.stringify(value)}`.slice(0, 2000);
  } catch (error) {
    return `${Object.prototype.toString.call(value)} without a text`;
  }
}

const lists = () => [[], [1], ["a", 2], [{ a: 1 }], [[3, 1, 2], (a, b) => a - b], [() => 5, 1], [new Uint8Array(8)], [new Date()]];

function attempt(path, act) {
  calls++;
  let text;
  try {
    const result = act();
    text = show(result);
    if (result instanceof Promise) {
      result.then((value) => print(path, "fulfils", show(value)), (error) => print(path, "rejects", show(error)));
    }
  } catch (error) {
    text = `throws ${show(error)}`;
  }
  print(path, text);
}

function visit(path, value, owner) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
  seen.add(value);
  if (typeof value === "function" && !skipped.has(value)) {
    for (const [index, list] of lists().entries()) {
      attempt(`${path}(${index})`, () => Reflect.apply(value, owner, list));
      attempt(`new ${path}(${index})`, () => Reflect.construct(value, list));
    }
  }
  for (const key of Reflect.ownKeys(value)) {
    const name = `${path}.${String(key)}`;
    const property = Reflect.getOwnPropertyDescriptor(value, key);
    if (property.get) attempt(name, () => Reflect.apply(property.get, value, []));
    for (const part of [property.value, property.get, property.set]) visit(name, part, value);
  }
  visit(`${path}.__proto__`, Reflect.getPrototypeOf(value), value);
}

visit("globalThis", globalThis, undefined);
// What has no name on the global object.
for (const value of [function* () {}, async () => {}, async function* () {}, [][Symbol.iterator](), new Map().entries(), "".matchAll(/./g)]) {
  visit(Object.prototype.toString.call(value), value, undefined);
}
// Instances, with the time and with random numbers in them.
for (const make of [() => new Date(), () => Temporal.Now.instant(), () => Temporal.Now.zonedDateTimeISO(), () => new Event("a"),
  () => AbortSignal.timeout(3), () => new AbortController(), () => new MessageChannel().port1, () => new URL("a:b"), () => new Error("e")]) {
  const instance = make();
  for (let from = instance; from !== null && from !== Object.prototype; from = Reflect.getPrototypeOf(from)) {
    for (const key of Reflect.ownKeys(from)) {
      const property = Reflect.getOwnPropertyDescriptor(from, key);
      const name = `${Object.prototype.toString.call(instance)}.${String(key)}`;
      if (property.get) attempt(name, () => Reflect.apply(property.get, instance, []));
      if (typeof property.value === "function" && key !== "constructor") attempt(name, () => Reflect.apply(property.value, instance, []));
    }
  }
}
// What the collector could show.
const registry = new FinalizationRegistry((held) => print("finalized", held));
const refs = [];
for (let i = 0; i < 2000; i++) {
  const target = { i, filler: new Array(50).fill(i) };
  registry.register(target, i);
  refs.push(new WeakRef(target));
}
// How deep natives may recurse.
let depth = 0;
const deepen = { toJSON() { depth++; return JSON.stringify(deepen); } };
try { JSON.stringify(deepen); } catch (error) { print("recursion", error.name, depth); }
// What may wait, and in which order.
const shared = new Int32Array(new SharedArrayBuffer(16));
// A virtual clock waits for nothing.
print(Atomics.wait(shared, 0, 0, scriptArgs[1] === "short" ? 5 : 100000), Date.now());
Atomics.waitAsync(shared, 0, 0, 30).value.then((how) => print("async", how, performance.now()));
setTimeout(() => print("late", performance.now()), 40);
setTimeout(() => print("early", performance.now()), 20);
setTimeout(() => { const end = Date.now() + 50; let turns = 0; while (Date.now() < end) turns++; print("waited", turns); }, 10);
const channel = new MessageChannel();
channel.port2.onmessage = (event) => { print("message", event.timeStamp, event.data); channel.port2.close(); };
channel.port1.postMessage(Math.random());
setTimeout(() => {
  for (let i = 0; i < 200000; i++) new Array(8);
  print("alive", refs.filter((ref) => ref.deref() !== undefined).length);
}, 100);
console.time("t");
console.timeEnd("t");
print(calls, "calls");
if (calls < 10000) throw new Error("the walk is not whole");
