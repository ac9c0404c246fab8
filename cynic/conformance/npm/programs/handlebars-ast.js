// Compiling needs code from strings; parsing, visiting and precompiling do not.
import Handlebars from "handlebars/dist/cjs/handlebars.js";
const tree = Handlebars.parse("{{#each list as |item i|}}{{> part item key=(lookup . 'x')}}{{else if y}}{{{raw}}}{{/each}}{{!-- c --}}{{~helper a.b.[c d] ../e @root.f 'g' 1 true~}}");
console.log(JSON.stringify(tree, null, 1).length, tree.body.map((node) => node.type));
console.log(Handlebars.precompile("Hi {{name}} {{#if a}}x{{/if}}"));
console.log(Handlebars.Utils.escapeExpression("<a&'\"`=>"), new Handlebars.SafeString("s").toHTML());
