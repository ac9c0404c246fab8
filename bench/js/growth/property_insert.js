"use strict";
// One object used as a dictionary.
const object = {};
const n = /*n*/ 30000;
for (let i = 0; i < n; i++) object["key" + i] = i;
let sum = 0;
for (const key of Object.keys(object)) sum = (sum + object[key]) | 0;
for (let i = 0; i < n; i += 2) delete object["key" + i];
print(sum + ":" + Object.keys(object).length);
