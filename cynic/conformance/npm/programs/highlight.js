import hljs from "highlight.js/lib/common";
console.log(hljs.highlight("async function f(x) { return `a${x + 1}` ?? /re/g; } // c\nclass A extends B {}", { language: "javascript" }).value);
console.log(hljs.highlight("def f(a: int = 1, *b) -> str:\n    '''doc'''\n    return f'{a!r:>{b}}' if a else None", { language: "python" }).value);
const auto = hljs.highlightAuto("SELECT a FROM b WHERE c = 'd' ORDER BY e;");
console.log(auto.language, auto.relevance, auto.value, hljs.listLanguages().length);
