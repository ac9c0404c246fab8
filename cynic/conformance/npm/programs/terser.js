import { minify } from "terser";
const code = `/** @license keep */ function outer(first, second) { const unused = 1; let total = 0; for (let index = 0; index < first.length; index++) { if (second) { total += first[index] * 2 + 0; } else { total -= first[index]; } } return (() => { return total === undefined ? null : total; })(); }
class Point { constructor(x, y) { this.x = x; this.y = y; } get norm() { return Math.sqrt(this.x ** 2 + this.y ** 2); } } if (false) { dead(); } console.log(outer([1, 2, 3], true), new Point(3, 4).norm, "a" + "b" + 1 * 2, !0 ? \`t\${1 + 1}\` : void 0);`;
const a = await minify(code, { sourceMap: { filename: "o.js" }, toplevel: true, compress: { passes: 2 } });
console.log(a.code); console.log(a.map);
console.log((await minify(code, { mangle: false, compress: false, format: { beautify: true, comments: "some" } })).code);
try { await minify("let x = ;"); } catch (error) { console.log(error.message, error.line, error.col); }
