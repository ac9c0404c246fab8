import { marked, Marked } from "marked";
const text = "# Title *em* `code`\n\nPara **bold** [link](http://x.y \"t\") ![img](a.png) <b>raw</b> ~~del~~ https://auto.link\n\n- a\n  - b\n  - [x] done\n1. one\n2. two\n\n> quote\n> > nested\n\n```js\nlet x = '<>&';\n```\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n---\nline  \nbreak\\\nend &amp; &copy; \\*esc\\*";
console.log(marked.parse(text));
console.log(marked.lexer("- x\n\n  y").map((t) => [t.type, t.raw, t.loose]));
const own = new Marked({ renderer: { heading({ tokens, depth }) { return `<H${depth}>${this.parser.parseInline(tokens)}</H${depth}>`; } } });
console.log(own.parse("## sub _x_"));
