// Nesting that no recursive parser survives: each is a SyntaxError (or fine), never a crash.
const DEEP = 1_000_000;
const SOME = 3_000;

const nests = [
  ["(", "1", ")"],
  ["[", "", "]"],
  ["{", "", "}"],
  ["`${", "1", "}`"],
  ["-+", "1", ""],
  ["!", "1", ""],
  ["typeof ", "1", ""],
  ["new ", "Object", ""],
  ["if(0);else ", ";", ""],
  ["if(0){}else ", "{}", ""],
  ["if(0)0,0\nelse ", ";", ""],
  ["if(0)", ";", ""],
  ["while(0)", ";", ""],
  ["while(0)\n", ";", ""],
  ["for(;0;)", ";", ""],
  ["do ", ";", " while(0);"],
  ["a=>", "1", ""],
  ["async a=>", "1", ""],
  ["(a=", "1", ")=>1"],
  ["(class extends ", "Object", "{})"],
  ["(class{[", "1", "](){}})"],
  ["(class{static{", "", "}})"],
  ["(function(){", "", "})"],
  ["function f(){", "", "}"],
  ["({a:", "1", "})"],
  ["({get a(){return ", "1", "}})"],
  ["1+", "1", ""],
  ["1", "", "+1"],
  ["2**", "1", ""],
  ["0?1:", "1", ""],
  ["0?", "1", ":1"],
  ["var x;", "x", "=x"],
  ["0", "", ",0"],
  ["null??", "1", ""],
  ["(()=>()=>1)", "", "()"],
  ["var o={};o", "", ".a"],
  ["var o;o", "", "?.a"],
  ["var o;o", "", "?.[0]"],
  ["String.raw", "", "``"],
  ["try{", "", "}catch{}"],
  ["switch(0){case 0:", "", "}"],
  ["var [", "", "]=[]"],
  ["var {a:", "b", "={}}={}"],
  ["0&&import(", "''", ")"],
  ["/(?:", "", ")/"],
  ["1..a", "", "1..a"],
  ["((((/[(]/", "1", ")"],
];

for (const [open, middle, close] of nests) {
  for (const count of [SOME, DEEP]) {
    const source = open.repeat(close === "" || middle !== "" ? count : 1) + middle + close.repeat(count);
    const outcome = survives(() => (0, eval)(source));
    const fine = !(outcome instanceof Error) || outcome instanceof SyntaxError || outcome instanceof TypeError
      || outcome instanceof RangeError;
    assert(fine, `${open}: ${outcome}`);
  }
}

// What people and programs really write is not refused.
assertEqual((0, eval)("(".repeat(1_000) + "1" + ")".repeat(1_000)), 1, "parentheses");
assertEqual((0, eval)("1" + "+1".repeat(9_999)), 10_000, "a sum of many terms");
assertEqual((0, eval)("'a'" + "+(0?'':'b')".repeat(2_000)).length, 2_001, "a concatenation of conditionals");
assertEqual((0, eval)("[1]" + ".concat(1)".repeat(2_000)).length, 2_001, "a chain of calls");
assertEqual((0, eval)("var f = () => f; f" + "()".repeat(2_000) + " === f"), true, "calls of calls");
assertEqual((0, eval)("if (0) 1;" + "else if (0) 2;".repeat(2_000) + "else 3"), 3, "else if");
assertEqual((0, eval)("var o = {}; o.a = o; o" + ".a".repeat(5_000) + " === o"), true, "members");
assertEqual((0, eval)("[" + "1,".repeat(200_000) + "].length"), 200_000, "a long array");
assertEqual((0, eval)("x=>{};\n".repeat(50_000) + "7"), 7, "a long program");
// Text that only looks like nesting.
assertEqual((0, eval)(`/*${"(".repeat(DEEP)}*/ "${"[".repeat(DEEP)}".length`), DEEP, "brackets in comments and strings");
