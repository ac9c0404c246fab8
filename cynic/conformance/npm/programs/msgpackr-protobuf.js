import { pack, unpack, Packr } from "msgpackr";
import protobuf from "protobufjs/light.js";
const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const value = { a: 1, b: -300, c: 1.5, d: "é☃", e: [true, null, 2 ** 40], f: new Uint8Array([1, 2, 3]), g: new Date(1e12), h: { i: { j: "k".repeat(40) } } };
const back = unpack(pack(value));
// Bytes are a Buffer in node.
back.f = [...back.f];
console.log(hex(pack(value)), back, new Packr({ useRecords: false, mapsAsObjects: false }).unpack(pack({ m: 1 })));
const root = protobuf.Root.fromJSON({ nested: { M: { fields: { id: { type: "int32", id: 1 }, name: { type: "string", id: 2 }, xs: { rule: "repeated", type: "double", id: 3 }, kind: { type: "K", id: 4 } } }, K: { values: { A: 0, B: 1 } } } });
const writer = protobuf.Writer.create().uint32(8).sint64(-12345678901).string("é").float(1.5).fixed64(77);
console.log(hex(writer.finish()), root.lookupType("M").fieldsArray.map((f) => `${f.name}:${f.resolve().resolvedType ?? f.type}`), protobuf.Reader.create(new Uint8Array([0xac, 2, 5])).uint32());
