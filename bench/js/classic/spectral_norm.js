"use strict";
// The largest singular value of an infinite matrix by the power method: calls of small functions of doubles. Prints it, rounded.
const SIZE = 90;

function entry(i, j) {
  return 1 / (((i + j) * (i + j + 1)) / 2 + i + 1);
}

function multiply(v, out) {
  for (let i = 0; i < SIZE; i++) {
    let sum = 0;
    for (let j = 0; j < SIZE; j++) sum += entry(i, j) * v[j];
    out[i] = sum;
  }
}

function multiplyTransposed(v, out) {
  for (let i = 0; i < SIZE; i++) {
    let sum = 0;
    for (let j = 0; j < SIZE; j++) sum += entry(j, i) * v[j];
    out[i] = sum;
  }
}

const u = new Array(SIZE).fill(1), v = new Array(SIZE).fill(0), w = new Array(SIZE).fill(0);
for (let i = 0; i < 10; i++) {
  multiply(u, w);
  multiplyTransposed(w, v);
  multiply(v, w);
  multiplyTransposed(w, u);
}
let above = 0, below = 0;
for (let i = 0; i < SIZE; i++) {
  above += u[i] * v[i];
  below += v[i] * v[i];
}
print(Math.sqrt(above / below).toFixed(9));
