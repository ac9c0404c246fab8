import esprima from "esprima";
const source = `function fib(n) { /* c */ return n < 2 ? n : fib(n - 1) + fib(n - 2); } // end\nvar o = { get x() { return 1; }, [k]: 2, m() {} }; with_ = /a[\\]/]b/gi;`;
const tree = esprima.parseScript(source, { comment: true, range: true, tokens: true });
console.log(tree.body.map((node) => node.type), tree.comments, tree.tokens.length);
console.log(JSON.stringify(tree.body[0], null, 1).length);
console.log(esprima.tokenize("x = `a${b}c` / 2 + '\\u0041'").map((t) => `${t.type}:${t.value}`).join(" | "));
try { esprima.parseScript("if (x { y }"); } catch (error) { console.log(error.message, error.lineNumber, error.column); }
