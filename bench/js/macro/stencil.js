"use strict";
// Numeric stencils on typed arrays: a reaction-diffusion system (five-point Laplacian, periodic borders) and a Jacobi
// solve of Poisson's equation. Only +, -, * and exact divisions, so every engine prints the same bits.

const SIZE = 96;

function at(row, column) {
  return ((row + SIZE) % SIZE) * SIZE + ((column + SIZE) % SIZE);
}

function reactionDiffusion(steps) {
  let u = new Float64Array(SIZE * SIZE).fill(1);
  let v = new Float64Array(SIZE * SIZE);
  let nextU = new Float64Array(SIZE * SIZE);
  let nextV = new Float64Array(SIZE * SIZE);
  for (let r = 40; r < 56; r++) {
    for (let c = 36; c < 60; c++) {
      u[at(r, c)] = 0.5;
      v[at(r, c)] = 0.25 + ((r * 7 + c * 13) % 16) / 256;
    }
  }
  for (let step = 0; step < steps; step++) {
    for (let r = 0; r < SIZE; r++) {
      const here = r * SIZE;
      const up = ((r + SIZE - 1) % SIZE) * SIZE;
      const down = ((r + 1) % SIZE) * SIZE;
      for (let c = 0; c < SIZE; c++) {
        const left = c === 0 ? SIZE - 1 : c - 1;
        const right = c === SIZE - 1 ? 0 : c + 1;
        const a = u[here + c];
        const b = v[here + c];
        const laplaceU = u[up + c] + u[down + c] + u[here + left] + u[here + right] - 4 * a;
        const laplaceV = v[up + c] + v[down + c] + v[here + left] + v[here + right] - 4 * b;
        const reaction = a * b * b;
        nextU[here + c] = a + 0.1875 * laplaceU - reaction + 0.03515625 * (1 - a);
        nextV[here + c] = b + 0.09375 * laplaceV + reaction - 0.09765625 * b;
      }
    }
    const swapU = u;
    u = nextU;
    nextU = swapU;
    const swapV = v;
    v = nextV;
    nextV = swapV;
  }
  return u;
}

function poisson(sweeps) {
  const source = new Float64Array(SIZE * SIZE);
  let field = new Float64Array(SIZE * SIZE);
  let next = new Float64Array(SIZE * SIZE);
  for (let i = 0; i < 12; i++) source[at(8 + i * 7, 11 + i * 5)] = i % 2 === 0 ? 1 : -1;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (let r = 1; r < SIZE - 1; r++) {
      for (let c = 1; c < SIZE - 1; c++) {
        const i = r * SIZE + c;
        next[i] = 0.25 * (field[i - 1] + field[i + 1] + field[i - SIZE] + field[i + SIZE] + source[i]);
      }
    }
    const swap = field;
    field = next;
    next = swap;
  }
  return field;
}

function fold(array) {
  let sum = 0;
  for (let i = 0; i < array.length; i++) sum = (sum * 31 + Math.floor(array[i] * 1048576)) % 1000000007;
  return sum;
}

const steps = /*n*/ 60;
print(fold(reactionDiffusion(steps)) + ":" + fold(poisson(steps * 2)));
