"use strict";
// Products of matrices: arrays of arrays of doubles, then flat typed arrays. Prints both traces, rounded.
const SIZE = 70;

function made(size, seed) {
  const rows = [];
  for (let i = 0; i < size; i++) {
    const row = [];
    for (let j = 0; j < size; j++) row.push((((i * 31 + j * 17 + seed) % 101) - 50) / 7);
    rows.push(row);
  }
  return rows;
}

function product(a, b) {
  const size = a.length, out = [];
  for (let i = 0; i < size; i++) {
    const row = [], left = a[i];
    for (let j = 0; j < size; j++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += left[k] * b[k][j];
      row.push(sum);
    }
    out.push(row);
  }
  return out;
}

function flatProduct(a, b, out, size) {
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += a[i * size + k] * b[k * size + j];
      out[i * size + j] = sum;
    }
  }
}

function trace(rows) {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum += rows[i][i];
  return sum;
}

const a = made(SIZE, 3), b = made(SIZE, 8);
const nested = product(product(a, b), a);
const flatA = Float64Array.from(a.flat()), flatB = Float64Array.from(b.flat());
const half = new Float64Array(SIZE * SIZE), flat = new Float64Array(SIZE * SIZE);
flatProduct(flatA, flatB, half, SIZE);
flatProduct(half, flatA, flat, SIZE);
let flatTrace = 0;
for (let i = 0; i < SIZE; i++) flatTrace += flat[i * SIZE + i];
print(trace(nested).toFixed(4) + " " + flatTrace.toFixed(4));
