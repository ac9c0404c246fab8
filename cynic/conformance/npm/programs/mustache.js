import Mustache from "mustache";
const view = { title: "Joe & <Co>", items: [{ n: 1, last: false }, { n: 2, last: true }], none: [], calc() { return 2 + 4; }, wrap() { return (text, render) => `<b>${render(text)}</b>`; }, deep: { er: { x: "y" } } };
console.log(Mustache.render("{{title}} {{{title}}} {{&title}} {{calc}}\n{{#items}}\n- {{n}}{{^last}},{{/last}}\n{{/items}}\n{{^none}}empty{{/none}}{{! c }}\n{{#wrap}}Hi {{deep.er.x}}{{/wrap}} {{> part}}", view, { part: "[{{title}}]" }));
console.log(Mustache.parse("<%a%> {{b}}", ["<%", "%>"]));
try { Mustache.render("{{#a}}", {}); } catch (error) { console.log(error.message); }
