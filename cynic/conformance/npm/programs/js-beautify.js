import beautify from "js-beautify/js/lib/beautify.js";
import html from "js-beautify/js/lib/beautify-html.js";
import css from "js-beautify/js/lib/beautify-css.js";
console.log(beautify.js_beautify("if(a){b();}else if(c)d();else{for(var i=0;i<10;i++){x[i]=function(){return/re/g.test(`a${b}`)}}}var o={a:1,b:[1,2,{c:3}],async *d(){yield*e}};a=b?c:d;x=>y?.z??w", { indent_size: 2, brace_style: "end-expand" }));
console.log(html.html_beautify("<div><p>a<b>c</b></p><script>if(x){y()}</script><style>a{b:c}</style><ul><li>1<li>2</ul></div>", { indent_size: 2 }));
console.log(css.css_beautify("a,b{c:d;e:f}@media x{g{h:i}}", { newline_between_rules: true }));
