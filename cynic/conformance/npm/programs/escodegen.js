import esprima from "esprima";
import escodegen from "escodegen";
const tree = esprima.parseScript("var a=1,b=[,2,,3],c={d:1,'e-f':2,3:4};for(var k in c)if(c.hasOwnProperty(k)){try{a+=-(-c[k])- -1}catch(e){throw e}finally{}}else;(function(){return typeof void 0})();x=a?b:c,d;");
console.log(escodegen.generate(tree));
console.log(escodegen.generate(tree, { format: { compact: true, quotes: "double", hexadecimal: true } }));
