import * as yaml from "js-yaml";
console.log(yaml.load("a: 1\nb:\n  - 2.5e3\n  - .inf\n  - 0b101\n  - 2020-02-30x\n  - [x]\nc: {d: [e, f], ? g : h}\nt: 2002-12-14T21:59:43.10Z\n"));
console.log(yaml.dump({ z: [1, "1", true, "true", null, [], {}], s: "multi\nline\n", u: "ünï ☃", d: new Date(0), q: "it's: #x" }, { sortKeys: true, lineWidth: 40 }));
try { yaml.load("a: b: c\n  - d"); } catch (error) { console.log(error.name, error.message); }
