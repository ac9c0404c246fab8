"use strict";
// Sorting with a comparison function.
const n = /*n*/ 20000;
let seed = 7;
const array = [];
for (let i = 0; i < n; i++) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  array.push(seed);
}
array.sort((a, b) => a - b);
let sum = 0;
for (let i = 0; i < n; i++) sum = (Math.imul(sum, 31) + array[i]) | 0;
print(sum);
