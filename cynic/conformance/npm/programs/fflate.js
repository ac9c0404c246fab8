import { zipSync, unzipSync, strToU8, strFromU8, gzipSync, gunzipSync, deflateSync, zlibSync, Zip, ZipDeflate } from "fflate";
const data = strToU8("so repetitive, ".repeat(500) + "é☃😀");
const zip = zipSync({ "a.txt": data, dir: { "b.bin": [new Uint8Array(300).map((_, i) => i * i), { level: 0 }] } }, { level: 9, mtime: new Date(2020, 1, 2) });
console.log(zip.length, Object.entries(unzipSync(zip)).map(([name, bytes]) => [name, bytes.length]));
console.log(strFromU8(gunzipSync(gzipSync(data, { mtime: 0 }))).length, deflateSync(data).length, zlibSync(data, { level: 1 }).length);
const chunks = [], out = new Zip((err, chunk, final) => { chunks.push(chunk); if (final) console.log("final", chunks.reduce((n, c) => n + c.length, 0)); });
const file = new ZipDeflate("s.txt", { level: 6 }); file.mtime = 0 || new Date(2020, 0, 1); out.add(file); file.push(data.subarray(0, 99)); file.push(data.subarray(99), true); out.end();
