import MagicString, { Bundle } from "magic-string";
const s = new MagicString("problems = 99\nanswer = 42");
s.overwrite(0, 8, "answers").prepend("var ").append(";").indent("  ").replace(/\d+/g, (m) => `<${m}>`);
console.log(s.toString());
const map = s.generateMap({ source: "source.js", file: "converted.js.map", includeContent: true });
console.log(map.mappings, map.sources, map.toString().length);
const bundle = new Bundle({ separator: "\n//--\n" });
bundle.addSource({ filename: "a.js", content: new MagicString("let a;") }).addSource({ filename: "b.js", content: s });
console.log(bundle.toString(), bundle.generateDecodedMap().mappings.length);
