import jsonata from "jsonata";
import jmespath from "jmespath";
import { JSONPath } from "jsonpath-plus";
const data = { orders: [{ id: 1, items: [{ sku: "a", price: 2.5, n: 4 }, { sku: "b", price: 10, n: 1 }] }, { id: 2, items: [{ sku: "a", price: 3, n: 2 }] }] };
console.log(await jsonata("orders.items{sku: $sum($.(price * n))}").evaluate(data), await jsonata("$map(orders[items[price > 5]], function($o) { $uppercase('o' & $o.id) })").evaluate(data), await jsonata("(  $f := function($n){ $n <= 1 ? 1 : $n * $f($n - 1) }; [1..5].$f($) )").evaluate({}), await jsonata("$fromMillis(0, '[Y0001]-[M01]-[D01] [FNn]')").evaluate({}));
console.log(jmespath.search(data, "orders[].items[?price > `2.6`].{s: sku, p: price} | []"), jmespath.search(data, "sort_by(orders[*].items[], &price)[-1].sku"), JSONPath({ path: "$..items[*].price", json: data }), JSONPath({ path: "$.orders[0:1]..sku", json: data, resultType: "path" }));
