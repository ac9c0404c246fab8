import { z } from "zod";
const User = z.object({ id: z.number().int().positive(), email: z.string().email(), tags: z.array(z.string().min(2)).max(3).default([]), role: z.enum(["admin", "user"]).optional(), when: z.coerce.date(), meta: z.record(z.string(), z.union([z.string(), z.number()])), shape: z.discriminatedUnion("k", [z.object({ k: z.literal("c"), r: z.number() }), z.object({ k: z.literal("s"), w: z.number() })]) }).strict().refine((u) => u.id !== 13, { message: "unlucky", path: ["id"] });
console.log(User.parse({ id: 1, email: "a@b.co", when: "2020-01-01", meta: { a: 1, b: "x" }, shape: { k: "c", r: 2 } }));
const bad = User.safeParse({ id: -1.5, email: "nope", tags: ["a"], role: "root", when: "x", meta: { a: true }, shape: { k: "t" }, extra: 1 });
console.log(bad.success, JSON.stringify(bad.error.issues, null, 1));
console.log(z.string().transform((s) => s.length).pipe(z.number().min(3)).safeParse("ab").success, z.string().regex(/^\p{Lu}/u).parse("Éa"));
console.log(await z.string().refine(async (s) => s !== "taken").safeParseAsync("taken"));
