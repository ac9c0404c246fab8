// Strings that cannot be, and ropes that are deep.
assertThrows(RangeError, () => "x".repeat(10 * 2 ** 30));
assertThrows(RangeError, () => "x".repeat(2 ** 53));
assertThrows(RangeError, () => "x".padStart(2 ** 31));
assertThrows(RangeError, () => "x".padEnd(2 ** 40, "yz"));
assertThrows(RangeError, () => { let s = "ab".repeat(1 << 20); for (;;) s += s; });
assertThrows(RangeError, () => ["x".repeat(1 << 27)].concat(Array(9).fill("y".repeat(1 << 27))).join(""));
assertThrows(RangeError, () => "x".repeat(1 << 28).replaceAll("x", "yyyy"));
assertThrows(RangeError, () => String.raw({ raw: Array(1 << 10).fill("z".repeat(1 << 20)) }));

const LINKS = 1_000_000;
let left = "", right = "", both = "";
for (let i = 0; i < LINKS; i++) {
  left += "l";
  right = "r" + right;
  both = i % 2 ? both + "b" : "a" + both;
}
assertEqual(left.charCodeAt(LINKS - 1), 108, "appended");
assertEqual(right.charCodeAt(0), 114, "prepended");
assertEqual(both.indexOf("b"), LINKS / 2, "both");
let bush = "leaf".repeat(8);
for (let i = 0; i < 23; i++) bush = bush + bush;
assertEqual(bush.length, 2 ** 28, "a rope whose leaves are shared");
// A rope as a key, in a comparison, in a switch, as a pattern.
let deep = "";
for (let i = 0; i < 200_000; i++) deep += "k";
const object = { [deep]: 1 };
assertEqual(object[deep], 1, "a key");
assertEqual(deep === "k".repeat(200_000), true, "equal");
assertEqual(deep < deep + "a", true, "ordered");
assertEqual(new RegExp("^k+$").test(deep), true, "matched");
assertEqual(new Map([[deep, 2]]).get("k".repeat(200_000)), 2, "hashed");
// A slice of a slice of a rope.
let slice = deep + "tail".repeat(10);
for (let i = 0; i < 100_000; i++) slice = slice.slice(1);
assertEqual(slice.length, 100_040, "slices");
assertThrows(RangeError, () => String.fromCharCode.apply(null, { length: 2 ** 32 }));
