import "./support/self.js";
import Joi from "joi";
const schema = Joi.object({ user: Joi.string().alphanum().min(3).max(30).required(), pass: Joi.string().pattern(/^[a-z]{3,30}$/), repeat: Joi.ref("pass"), birth: Joi.number().integer().min(1900).max(2013), list: Joi.array().items(Joi.number(), Joi.string().valid("x")).unique() }).with("user", "birth").xor("pass", "token");
console.log(schema.validate({ user: "abc", birth: "1994", pass: "zzz", list: [1, "x", 2] }));
const { error } = schema.validate({ user: "a!", pass: "Z", birth: 1800, list: [1, 1, "q"], w: 1 }, { abortEarly: false });
console.log(error.details.map((d) => [d.message, d.path.join("."), d.type]));
