import { SourceMapGenerator, SourceMapConsumer } from "source-map-js";
import { encode, decode } from "@jridgewell/sourcemap-codec";
const g = new SourceMapGenerator({ file: "out.js" });
for (let i = 1; i < 20; i++) g.addMapping({ generated: { line: i, column: i * 3 }, original: { line: 21 - i, column: (i * 7) % 13 }, source: i % 2 ? "a.js" : "b.js", name: i % 3 ? undefined : "n" + i });
g.setSourceContent("a.js", "let a;");
const c = new SourceMapConsumer(g.toJSON());
console.log(g.toString(), c.originalPositionFor({ line: 9, column: 30 }), c.generatedPositionFor({ source: "b.js", line: 11, column: 0, bias: SourceMapConsumer.LEAST_UPPER_BOUND }), c.allGeneratedPositionsFor({ source: "a.js", line: 4 }));
console.log(encode(decode(g.toJSON().mappings)) === g.toJSON().mappings);
