import * as v from "valibot";
const Schema = v.pipe(v.object({ a: v.pipe(v.string(), v.minLength(3), v.toUpperCase()), n: v.optional(v.pipe(v.number(), v.integer()), 7), u: v.union([v.literal("x"), v.array(v.bigint())]), t: v.tuple([v.string(), v.boolean()]), m: v.map(v.string(), v.number()) }), v.check((o) => o.n < 10, "big"));
console.log(v.parse(Schema, { a: "abcd", u: [1n], t: ["q", true], m: new Map([["k", 1]]) }));
const r = v.safeParse(Schema, { a: "ab", n: 1.5, u: "y", t: ["q"], m: 1 });
console.log(r.success, v.flatten(r.issues));
