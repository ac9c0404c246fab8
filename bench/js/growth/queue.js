"use strict";
// Push at one end, shift at the other: a queue must not cost its length per step.
const queue = [];
let sum = 0;
const n = /*n*/ 60000;
for (let i = 0; i < n; i++) queue.push(i);
while (queue.length > 0) sum = (sum + queue.shift()) | 0;
print(sum);
