import * as csso from "csso/dist/csso.esm";
const css = "@media (min-width: 100px) { a:hover , a:focus{ color : #FF0000 ; margin: 0px 0px 0px 0px } }\n.a{color:red}.b{color:red;}.a{background:url( 'x.png' )} /* c */ .c > .d::before { content: \"\\201C\"; transition: opacity .30s ease-in-out, top 0.0s } @supports (display:grid) { .e{ width: calc( 1px + 2% ) } }";
console.log(csso.minify(css, { restructure: true }).css);
console.log(csso.minify(css, { usage: { classes: ["a"], scopes: [] }, comments: false }).css);
const tree = csso.syntax.parse(css), names = [];
csso.syntax.walk(tree, (node) => { if (node.type === "ClassSelector") names.push(node.name); });
console.log(names, csso.syntax.generate(tree).length);
