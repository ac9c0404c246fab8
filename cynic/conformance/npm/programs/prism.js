import Prism from "prismjs";
console.log(Prism.highlight("const x = async (a) => { await `t${a}`; return /[a-z]+/gi; };", Prism.languages.javascript, "javascript"));
console.log(Prism.highlight("a > .b::after { color: red !important; --x: url('y'); }", Prism.languages.css, "css"));
console.log(Prism.tokenize("<a href='x'>&amp;</a>", Prism.languages.markup).length);
