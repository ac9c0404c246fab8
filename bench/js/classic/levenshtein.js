"use strict";
// Distances between words by the table of edits: `charCodeAt` and rows of int32. Prints their sum.
function distance(a, b) {
  let before = [];
  for (let j = 0; j <= b.length; j++) before.push(j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = before[j - 1] + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const least = Math.min(before[j] + 1, row[j - 1] + 1);
      row.push(changed < least ? changed : least);
    }
    before = row;
  }
  return before[b.length];
}

let seed = 42;
function random(limit) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >>> 8) % limit;
}

const words = [];
for (let i = 0; i < 28; i++) {
  let word = "";
  for (let j = 0, length = 8 + random(20); j < length; j++) word += String.fromCharCode(97 + random(12));
  words.push(word);
}
let sum = 0;
for (const a of words) for (const b of words) sum += distance(a, b);
print(sum);
