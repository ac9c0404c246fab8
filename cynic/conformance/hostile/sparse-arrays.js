// Arrays that are long and empty must stay cheap, and cost what is in them.
const sparse = [];
for (let k = 1; k < 32; k++) sparse[2 ** k - 2] = k;
assertEqual(sparse.length, 2 ** 31 - 1, "powers of two");
assertEqual(Object.keys(sparse).length, 31, "what is in it");
const many = [];
for (let n = 0; n < 50; n++) { const a = []; for (let k = 10; k < 26; k++) a[2 ** k - 2] = n; many.push(a); }
assertEqual(many[49][2 ** 25 - 2], 49, "many of them");
const far = [];
far[4_294_967_294] = 1;
assertEqual(far.length, 4_294_967_295, "the last index");
assertThrows(RangeError, () => far.push(1));
assertEqual(far.indexOf(1, 4_294_967_290), 4_294_967_294, "found at the end");
far.length = 0;
// A push beyond the last index leaves a property that is no element.
assertEqual(Object.keys(far).join(), "4294967295", "and gone");
const grow = [];
for (let i = 0; i < 300_000; i++) grow[i] = i;
assertEqual(grow[299_999], 299_999, "growing one by one stays an array");
const backwards = [];
for (let i = 20_000; i--;) backwards[i] = i;
assertEqual(backwards[19_999], 19_999, "from the end");
const holes = [];
for (let i = 0; i < 400_000; i += 4) holes[i] = i;
assertEqual(holes.filter(() => true).length, 100_000, "every fourth");
const long = Array(4_294_967_295);
assertEqual(long.length, 4_294_967_295, "a length without elements");
long.length = 10;
assertEqual(long.concat(Array(5)).length, 15, "concat of nothing");
assertThrows(RangeError, () => { long.length = -1; });
assertThrows(RangeError, () => new Array(1.5));
assertThrows(TypeError, () => Array.prototype.push.call({ length: 2 ** 53 - 1 }, 1));
assertThrows(TypeError, () => Array.prototype.concat.call([1], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true }));
assertThrows(TypeError, () => Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 0, 1));
assertThrows(TypeError, () => Array.prototype.unshift.call({ length: 2 ** 53 - 1 }, 1));
assertThrows(RangeError, () => Array.prototype.map.call({ length: 2 ** 32 }, (x) => x));
assertThrows(RangeError, () => Array.prototype.toReversed.call({ length: 2 ** 32 }));
