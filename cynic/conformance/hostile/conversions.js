// Objects that answer conversions with something else each time, in natives that ask more than once.
let turn = 0;
const shifty = { valueOf() { return [1, -1, 2 ** 40, NaN, Infinity, "x", null, 1n][turn++ % 8]; }, toString() { return ["a", "", "9".repeat(30), "length", "__proto__"][turn++ % 5]; }, [Symbol.toPrimitive](hint) { return hint === "string" ? this.toString() : this.valueOf(); } };
const names = (object) => Object.getOwnPropertyNames(object).filter((name) => !["constructor", "caller", "arguments", "callee"].includes(name));
const receivers = [undefined, null, 1, "text", Symbol("s"), 10n, {}, [1, 2, 3], function () {}, new Date(0), /x/g, new Map([[1, 2]]), new Set([1]), new WeakMap(), new Uint8Array(8), new ArrayBuffer(8), new DataView(new ArrayBuffer(8)), Promise.resolve(), new Proxy({}, {}), new Error("e"), shifty];
const skip = new Set(["wait", "waitAsync", "repeat", "padStart", "padEnd"]);
const seen = new Set();
function hammer(object, depth) {
  if (object === null || (typeof object !== "object" && typeof object !== "function") || seen.has(object)) return;
  seen.add(object);
  for (const key of [...names(object), ...Object.getOwnPropertySymbols(object)]) {
    if (skip.has(key)) continue;
    const descriptor = Object.getOwnPropertyDescriptor(object, key);
    for (const f of [descriptor.value, descriptor.get, descriptor.set]) {
      if (typeof f !== "function") continue;
      for (const receiver of receivers) {
        survives(() => Reflect.apply(f, receiver, []));
        survives(() => Reflect.apply(f, receiver, [shifty, shifty, shifty]));
        survives(() => Reflect.apply(f, receiver, [receiver, [1], { length: 3 }]));
        survives(() => Reflect.apply(f, receiver, [() => shifty, -1, "x"]));
      }
      survives(() => new f());
      survives(() => new f(shifty, shifty));
      survives(() => new f([1, 2], { a: 1 }));
      survives(() => Reflect.construct(f, [], Object.defineProperty(function () {}.bind(), "prototype", { get: () => shifty })));
    }
    if (depth > 0) hammer(descriptor.value, depth - 1);
  }
}
for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (["print", "console", "globalThis", "self", "assert", "eval", "setTimeout", "setInterval", "setImmediate", "exit", "quit"].includes(name)) continue;
  hammer(globalThis[name], 2);
}
