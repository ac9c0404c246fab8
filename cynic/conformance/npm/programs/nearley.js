import nearley from "nearley";
const id = (d) => d[0];
const grammar = { Lexer: undefined, ParserStart: "sum", ParserRules: [
  { name: "sum", symbols: ["sum", /[+-]/, "product"], postprocess: ([a, op, b]) => (op === "+" ? a + b : a - b) }, { name: "sum", symbols: ["product"], postprocess: id },
  { name: "product", symbols: ["product", { literal: "*" }, "num"], postprocess: ([a, , b]) => a * b }, { name: "product", symbols: ["num"], postprocess: id },
  { name: "num", symbols: ["digits"], postprocess: ([d]) => Number(d) }, { name: "num", symbols: [{ literal: "(" }, "sum", { literal: ")" }], postprocess: (d) => d[1] },
  { name: "digits", symbols: ["digits", /[0-9]/], postprocess: ([a, b]) => a + b }, { name: "digits", symbols: [/[0-9]/], postprocess: id } ] };
const run = (text) => new nearley.Parser(nearley.Grammar.fromCompiled(grammar)).feed(text).results;
console.log(run("1+2*3-4"), run("(1+2)*(30-4)*5"));
try { run("1+*2"); } catch (error) { console.log(error.message.split("\n").slice(0, 5).join("\n"), error.offset); }
