// Deep and wide JSON.
const DEPTH = 500_000;
const deep = JSON.parse("[".repeat(DEPTH) + "]".repeat(DEPTH));
assertEqual(JSON.stringify(deep).length, 2 * DEPTH, "arrays there and back");
const objects = JSON.parse('{"a":'.repeat(DEPTH) + "1" + "}".repeat(DEPTH));
assertEqual(JSON.stringify(objects).length, 6 * DEPTH + 1, "objects there and back");
assertThrows(SyntaxError, () => JSON.parse("[".repeat(5_000_000)));
assertThrows(SyntaxError, () => JSON.parse('{"a":'.repeat(1_000_000)));
assertThrows(SyntaxError, () => JSON.parse("[1,".repeat(1_000_000) + "x"));
assertThrows(RangeError, () => JSON.parse("[".repeat(DEPTH) + "]".repeat(DEPTH), (key, value) => value));
const cycle = {};
let inner = cycle;
for (let i = 0; i < 100_000; i++) inner = inner.next = {};
inner.next = cycle;
assertThrows(TypeError, () => JSON.stringify(cycle));
assertThrows(RangeError, () => JSON.stringify({ toJSON() { return JSON.stringify(this); } }));
// A reviver and a replacer that change what is being walked.
const revived = JSON.parse("[1,2,3,4]", function (key, value) { if (key === "0") this.length = 1; return value; });
assertEqual(revived.length, 1, "a reviver that shortens");
JSON.parse('{"a":{"b":1},"c":2}', function (key, value) { if (key === "b") delete this.b; if (key === "a") this.c = [1, 2, 3]; return value; });
const array = [1, 2, 3, 4];
JSON.stringify(array, (key, value) => { if (key === "1") array.length = 0; return value; });
const changing = { a: 1, get b() { delete this.c; this.d = 1; return {}; }, c: 2 };
assertEqual(JSON.stringify(changing), '{"a":1,"b":{}}', "a getter that deletes");
const proxy = new Proxy([], { get(target, key) { return key === "length" ? 100_000 : null; } });
assertEqual(JSON.stringify(proxy).length, 500_001, "an array-like proxy");
assertThrows(RangeError, () => JSON.stringify({ a: "\u0001".repeat(1 << 27) }));
assertThrows(SyntaxError, () => JSON.parse('"' + "\\u00".repeat(1_000_000)));
assertEqual(JSON.parse("1e" + "9".repeat(100_000)), Infinity, "a large exponent");
assertEqual(JSON.parse("0." + "0".repeat(1_000_000) + "1"), 0, "a long fraction");

// A reviver's walk over an object of many keys looks each up once.
const wide = JSON.parse("{" + Array.from({ length: 200000 }, (_, i) => `"k${i}": ${i}`).join() + "}", (key, value, { source }) => source ?? value);
assert(wide.k199999 === "199999", "an entry of a wide object");
