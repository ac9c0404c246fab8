import { Eta } from "eta/core";
const eta = new Eta({ autoTrim: [false, "nl"] });
console.log(eta.parse("Hi <%= it.name %>\n<% it.list.forEach((x) => { %>\n- <%~ x %>\n<% }) %>\n'q' `t` \\"));
console.log(eta.compileToString("A <%= it.x %> B"));
