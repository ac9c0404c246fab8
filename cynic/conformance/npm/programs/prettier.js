import * as prettier from "prettier/standalone";
import * as babel from "prettier/plugins/babel";
import * as estree from "prettier/plugins/estree";
import * as postcss from "prettier/plugins/postcss";
import * as markdown from "prettier/plugins/markdown";
const plugins = [babel, estree, postcss, markdown];
console.log(await prettier.format("const {a,b:{c=1}}=await f( x=>({...x,y:`a${z}b`}) , veryLongArgumentNumberOne,veryLongArgumentNumberTwo,[1,2,3].map(n=>n*2).filter(Boolean).reduce((a,b)=>a+b))\nclass A extends B{#p=1;static async*m(){for await(const x of y)yield x}}", { parser: "babel", plugins }));
console.log(await prettier.format("a{color:RED;background:URL(x)}@media (max-width:10px){b,c>d{margin:0 0}}", { parser: "css", plugins }));
console.log(await prettier.format("Title\n===\n* a\n* b\n\n|a|b|\n|-|-|\n|1|22|\n\n```js\nlet a=1\n```", { parser: "markdown", plugins }));
try { await prettier.format("let = ;", { parser: "babel", plugins }); } catch (error) { console.log(error.message); }
