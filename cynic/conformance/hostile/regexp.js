// Patterns that backtrack for ever elsewhere. Here they are linear, or end at the deadline (see terminated.txt).
assertEqual(/(a+)+$/.test("a".repeat(10_000) + "b"), false, "nested plus");
assertEqual(/^(\w+\s?)*$/.test("aaaa ".repeat(10_000) + "!"), false, "words");
assertEqual(/^(a|aa)+$/.test("a".repeat(5_000) + "b"), false, "overlapping alternatives");
assertEqual(/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(3_000)), false, "a common mistake");
assertThrows(SyntaxError, () => new RegExp("(".repeat(1_000_000)));
assertThrows(SyntaxError, () => new RegExp("(?:".repeat(1_000_000) + ")".repeat(1_000_000)));
assertThrows(SyntaxError, () => new RegExp("(?=".repeat(1_000_000) + ")".repeat(1_000_000)));
assertThrows(SyntaxError, () => new RegExp("[".repeat(1_000_000) + "]".repeat(1_000_000), "v"));
assertThrows(SyntaxError, () => new RegExp("(a)".repeat(100_000)));
assertThrows(SyntaxError, () => new RegExp("a".repeat(50_000_000)));
for (const pattern of [
  "(?:(?:(?:a{1000}){1000}){1000}){1000}",
  "(?:a|b){100000}",
  "a{0,4294967295}",
  "a{99999999999999999999}",
  "(a?){500}a{500}",
  "[" + "a-z".repeat(100_000) + "]",
  Array.from({ length: 20_000 }, (_, i) => "w" + i).join("|"),
  "(?<a>x)|".repeat(1_000) + "y",
  "\\1".repeat(10_000) + "(a)",
  "(?<=a*b*c*d*)x",
]) {
  const outcome = survives(() => new RegExp(pattern).test("a".repeat(1_000)));
  assert(typeof outcome === "boolean" || outcome instanceof SyntaxError || outcome instanceof RangeError, pattern.slice(0, 30));
}
// Guest code between two steps of a replacement.
const pattern = /a/g;
const replaced = "aaaa".replace(pattern, () => { pattern.lastIndex = 0; pattern.exec("bbba"); return "b"; });
assertEqual(replaced, "bbbb", "a callback that moves lastIndex");
const own = /x/;
own.exec = () => ({ length: 2 ** 53 - 1, index: 2 ** 53 - 1, 0: "y", groups: undefined });
survives(() => "abc".match(own));
class Splitter extends RegExp { static get [Symbol.species]() { return function () { return { get flags() { return "y"; }, exec: () => null, lastIndex: 0 }; }; } }
survives(() => "a".repeat(100).split(new Splitter("a")));
