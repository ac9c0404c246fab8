"use strict";
// A map with string and number keys grows, is read and shrinks.
const map = new Map();
const n = /*n*/ 60000;
for (let i = 0; i < n; i++) map.set(i % 2 === 0 ? i : "k" + i, i);
let sum = 0;
for (const [key, value] of map) sum = (sum + value + (typeof key === "string" ? 1 : 0)) | 0;
for (let i = 0; i < n; i += 3) map.delete(i % 2 === 0 ? i : "k" + i);
print(sum + ":" + map.size);
