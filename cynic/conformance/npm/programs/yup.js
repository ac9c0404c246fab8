import * as yup from "yup";
const schema = yup.object({ name: yup.string().required().trim().min(3), age: yup.number().required().positive().integer(), site: yup.string().url().nullable(), on: yup.date().default(() => new Date(0)), list: yup.array().of(yup.object({ a: yup.mixed().oneOf([1, 2]) })), b: yup.string().when("age", { is: (a) => a > 30, then: (s) => s.required("b for the old") }) });
console.log(await schema.validate({ name: "  Jimmy ", age: "24", site: null, list: [{ a: 1 }] }));
try { await schema.validate({ name: "x", age: 40.5, site: "zz", list: [{ a: 3 }] }, { abortEarly: false }); } catch (error) { console.log(error.name, error.errors, error.inner.map((e) => e.path)); }
console.log(schema.cast({ age: "3", name: 5 }), yup.reach(schema, "list[0].a").isValidSync(2));
