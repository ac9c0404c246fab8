// Sources that are large rather than deep, and tables that overflow.
assertEqual(survives(() => (0, eval)("x".repeat(5_000_000))) instanceof ReferenceError, true, "a long name");
assertEqual((0, eval)(`"${"a".repeat(5_000_000)}"`).length, 5_000_000, "a long string");
assertEqual((0, eval)("/*" + "*".repeat(5_000_000) + "*/ 1"), 1, "a long comment");
for (const source of [
  "var " + Array.from({ length: 50_000 }, (_, i) => `v${i}=${i}`).join(),
  "(function(){var " + Array.from({ length: 2_000 }, (_, i) => `v${i}=${i}`).join() + "})()",
  "(" + Array.from({ length: 70_000 }, (_, i) => `a${i}`).join() + ")=>1",
  "({" + Array.from({ length: 70_000 }, (_, i) => `a${i}:${i}`).join() + "})",
  "class A{" + Array.from({ length: 20_000 }, (_, i) => `#a${i};m${i}(){}`).join(";") + "}",
  "switch(1){" + Array.from({ length: 70_000 }, (_, i) => `case ${i}:`).join("") + "}",
  "`" + "${1}".repeat(70_000) + "`",
  "f(" + "1,".repeat(70_000) + ")",
  "[" + "...[],".repeat(20_000) + "]",
  "l:".repeat(10),
  "0x" + "f".repeat(1_000_000) + "n",
  "9".repeat(1_000_000),
  "\\u0061".repeat(1_000),
  "\ud800",
  "\0",
]) {
  const outcome = survives(() => (0, eval)(source));
  assert(!(outcome instanceof Error) || outcome instanceof SyntaxError || outcome instanceof ReferenceError
    || outcome instanceof RangeError, `${source.slice(0, 40)}: ${outcome}`);
}
