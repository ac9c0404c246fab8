import { List, Map, OrderedMap, Set, Record, Range, Seq, fromJS, is, Stack } from "immutable";
const deep = fromJS({ a: { b: [1, 2, { c: 3 }] } });
console.log(deep.setIn(["a", "b", 2, "c"], 9).toJS(), String(deep.updateIn(["a", "b"], (l) => l.push(4))), deep.getIn(["a", "b", 0]), is(Map({ a: List([1]) }), Map({ a: List([1]) })), deep.hashCode());
console.log(Range(1, Infinity).filter((n) => n % 3).map((n) => n * n).take(5).toArray(), String(List(Range(0, 100)).sort((a, b) => b - a).slice(0, 40).groupBy((n) => n % 7).map((g) => g.count())), Seq({ x: 1, y: 2 }).flip().toObject(), Stack.of(1, 2).unshift(0).toJS(), Set([1, 2]).union([2, 3]).toJS(), OrderedMap([["z", 1], ["a", 2]]).keySeq().join());
class P extends Record({ x: 0, y: 0 }) { get n() { return Math.hypot(this.x, this.y); } }
console.log(new P({ x: 3, y: 4 }).n, String(new P().set("x", 1)), List().withMutations((l) => { for (let i = 0; i < 2000; i++) l.push(i); }).reduce((a, b) => a + b), Map(Array.from({ length: 500 }, (_, i) => ["k" + i, i])).filter((v) => v % 50 === 0).sort().toJS());
