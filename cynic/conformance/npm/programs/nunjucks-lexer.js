// The compiler of templates needs code from strings; the parser and the transformer do not.
import nunjucks from "nunjucks/browser/nunjucks.js";
const tree = nunjucks.parser.parse("{% for a, b in items | sort(attribute='x') %}{{ loop.index }}: {{ a.b[1] ~ 'x' if c else d(e, k=1) }}{% else %}none{% endfor %}{% macro m(x, y=2) %}{{ x }}{% endmacro %}{# c #}");
console.log(tree.children.map((node) => [node.typename, node.lineno, node.colno]));
const source = nunjucks.compiler.compile("Hello {{ name | upper }}{% if a and not b %}!{% endif %}", [], [], "t.html");
console.log(source);
console.log(nunjucks.lib.escape("<a href='x'>&\"</a>"), nunjucks.lib.groupBy([{ a: 1 }, { a: 2 }, { a: 1 }], "a"));
