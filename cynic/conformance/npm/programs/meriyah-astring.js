import { parseModule } from "meriyah";
import { generate } from "astring";
const source = `import a, { b as c } from "d"; export const f = async function* (x, { y = 1, ...z } = {}, ...w) { for await (const q of x) yield* await q?.[y] ?? z; };
class K extends (0, a) { static #p = 1n; constructor() { super(...arguments); this.x ||= new.target; } get [c]() { return \`v\${this.#p}\`; } }
do { switch (a) { case 1: break; default: throw new Error("x"); } } while (a --> 0); export default (a, b) => ({ ...a, [b]: /x/u });`;
console.log(generate(parseModule(source, { next: true }), { indent: "    " }));
