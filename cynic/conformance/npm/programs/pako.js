import * as pako from "pako";
const text = Array.from({ length: 400 }, (_, i) => `line ${i} of ${(i * 7919) % 101} fish`).join("\n");
for (const level of [1, 6, 9]) { const z = pako.deflate(text, { level }); console.log(level, z.length, pako.inflate(z, { to: "string" }) === text); }
const gz = pako.gzip(text, { header: { name: "x.txt", time: 0 } });
console.log(gz.length, [...gz.slice(0, 12)], pako.ungzip(gz).length);
const inflator = new pako.Inflate({ to: "string" }), raw = pako.deflate("stream ✓".repeat(50));
for (let i = 0; i < raw.length; i += 7) inflator.push(raw.subarray(i, i + 7), i + 7 >= raw.length);
console.log(inflator.err, inflator.result.length);
try { pako.inflate(new Uint8Array([1, 2, 3])); } catch (error) { console.log(error.message ?? error); }
