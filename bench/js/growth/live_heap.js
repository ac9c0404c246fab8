"use strict";
// A live structure that grows while garbage is made beside it: collections must not cost the whole heap each time.
const n = /*n*/ 60000;
let list = null;
let sum = 0;
for (let i = 0; i < n; i++) {
  list = { value: i, next: list };
  const garbage = { a: i, b: [i, i + 1] };
  sum = (sum + garbage.b[1]) | 0;
}
let length = 0;
for (let at = list; at !== null; at = at.next) length++;
print(sum + ":" + length);
