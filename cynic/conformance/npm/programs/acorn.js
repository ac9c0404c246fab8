import * as acorn from "acorn";
import * as walk from "acorn-walk";
const source = `
class Tree extends Map { #root = null; static { Tree.count = 0; } get root() { return this.#root ?? null; } }
const f = async ({ a = 1, ...rest }, [b,, c] = []) => { for await (const x of g()) yield_(x ** 2); };
label: for (let i = 0, j = 10; i < j; i++, j--) { if (i % 2) continue label; else break; }
export default \`tpl \${f({})} end\`;`;
const tree = acorn.parse(source, { ecmaVersion: "latest", sourceType: "module", locations: true });
console.log(JSON.stringify(tree).length, tree.body.map((node) => node.type).join());
const counts = {};
walk.full(tree, (node) => { counts[node.type] = (counts[node.type] ?? 0) + 1; });
console.log(counts);
console.log([...acorn.tokenizer("a => /re[/]x/g.test(`${b}`) ?? 0x1f", { ecmaVersion: 2022 })].map((t) => t.type.label).join(" "));
try { acorn.parse("let a = 1;\nlet a = 2;", { ecmaVersion: 2022 }); } catch (error) { console.log(error.name, error.message, error.pos, error.loc); }
