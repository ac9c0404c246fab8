import peggy from "peggy";
const source = peggy.generate('start = _ e:expr _ { return e; }\nexpr = h:term t:(_ @("+" / "-") _ @term)* { return t.reduce((a, [o, b]) => [o, a, b], h); }\nterm = n:$[0-9]+ { return +n; } / "(" @expr ")"\n_ "space" = [ \\t\\n]*', { output: "source", format: "commonjs" });
console.log(source.length, source.split("\n").filter((l) => /peg\$c\d|peg\$e\d/.test(l)).slice(0, 12).join("\n"));
try { peggy.generate("start = missing"); } catch (error) { console.log(error.name, error.message); }
