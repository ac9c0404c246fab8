import * as TOML from "smol-toml";
const value = TOML.parse('title = "x\\u00e9"\nn = 1_000\nf = -1.5e-3\nb = 0xff\nd = 1979-05-27T07:32:00Z\nl = 07:32:00\narr = [ [1,2], ["a"] ]\n[a.b]\nc = """\nmulti \\\n   line"""\n[[p]]\nx = 1\n[[p]]\nx = {y = 2, z = \'lit\'}\n');
console.log(JSON.stringify(value), value.d instanceof Date);
console.log(TOML.stringify({ a: 1.5, b: [1, 2], c: { d: "e\n", f: [{ g: 1 }, { g: 2 }] } }));
try { TOML.parse("a = 1\na = 2"); } catch (error) { console.log(error.message); }
