import MarkdownIt from "markdown-it";
const md = new MarkdownIt({ html: true, linkify: true, typographer: true });
console.log(md.render('Heading\n===\n\n"Smart" quotes -- and ... (c) www.example.com\n\n* a\n\n  b\n* c\n\n    code\n\n<div>\n*raw*\n</div>\n\n| x | y |\n|---|:-:|\n| `a|b` | ~~c~~ |\n\n[ref]: /url "T"\n[ref] and ![i][ref] &lt;\n'));
console.log(md.parseInline("a **b `c`** [d](e)", {})[0].children.map((t) => t.type + ":" + t.content));
