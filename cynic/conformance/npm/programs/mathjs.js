import { create, all } from "mathjs";
const math = create(all, {});
console.log(math.evaluate("sqrt(3^2 + 4^2) + sum([1, 2; 3, 4]) * (2 + 3i)").toString());
console.log(math.format(math.inv([[4, 7], [2, 6]]), 6), math.det([[1, 2, 3], [0, 1, 4], [5, 6, 0]]), math.evaluate("12.7 cm to inch").toString());
console.log(math.simplify("2x + 3x - (x^2 * x) / x").toString(), math.derivative("x^3 + sin(2 x)", "x").toString(), math.rationalize("1/(x+1) + 1/(x-1)").toString());
console.log(math.fraction(1, 3).add(math.fraction("0.25")).toString(), math.bignumber("0.1").plus("0.2").toString(), math.format(math.eigs([[2, 0], [0, 3]]).values), math.std([2, 4, 4, 4, 5, 5, 7, 9]).toFixed(6));
const f = math.parse("f(a, b) = a % b + gamma(5)").compile().evaluate({});
console.log(f(17, 5), math.parse("a + b * c ? d : e").toTex());
