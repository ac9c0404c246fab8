"use strict";
// A fluid on a grid: diffusion, advection and projection with relaxation, doubles in arrays. Prints the density's sum, rounded.
const SIZE = 40, ROW = SIZE + 2, STEPS = 8, ROUNDS = 10;
const field = () => new Array(ROW * ROW).fill(0);

function borders(kind, x) {
  for (let i = 1; i <= SIZE; i++) {
    const flipX = kind === 1 ? -1 : 1, flipY = kind === 2 ? -1 : 1;
    x[i * ROW] = flipX * x[i * ROW + 1];
    x[i * ROW + SIZE + 1] = flipX * x[i * ROW + SIZE];
    x[i] = flipY * x[ROW + i];
    x[(SIZE + 1) * ROW + i] = flipY * x[SIZE * ROW + i];
  }
  x[0] = 0.5 * (x[1] + x[ROW]);
  x[SIZE + 1] = 0.5 * (x[SIZE] + x[2 * ROW - 1]);
  x[(SIZE + 1) * ROW] = 0.5 * (x[SIZE * ROW] + x[(SIZE + 1) * ROW + 1]);
  x[ROW * ROW - 1] = 0.5 * (x[ROW * ROW - 2] + x[ROW * SIZE + SIZE + 1]);
}

function relax(kind, x, before, a, c) {
  const inverse = 1 / c;
  for (let k = 0; k < ROUNDS; k++) {
    for (let j = 1; j <= SIZE; j++) {
      let at = j * ROW + 1;
      for (let i = 1; i <= SIZE; i++, at++) {
        x[at] = (before[at] + a * (x[at - 1] + x[at + 1] + x[at - ROW] + x[at + ROW])) * inverse;
      }
    }
    borders(kind, x);
  }
}

function advect(kind, out, from, u, v, dt) {
  const scaled = dt * SIZE;
  for (let j = 1; j <= SIZE; j++) {
    for (let i = 1; i <= SIZE; i++) {
      const at = j * ROW + i;
      const x = Math.min(Math.max(i - scaled * u[at], 0.5), SIZE + 0.5);
      const y = Math.min(Math.max(j - scaled * v[at], 0.5), SIZE + 0.5);
      const i0 = x | 0, j0 = y | 0, s = x - i0, t = y - j0, low = j0 * ROW + i0, high = low + ROW;
      out[at] = (1 - s) * ((1 - t) * from[low] + t * from[high]) + s * ((1 - t) * from[low + 1] + t * from[high + 1]);
    }
  }
  borders(kind, out);
}

function project(u, v, p, divergence) {
  const h = -0.5 / SIZE;
  for (let j = 1; j <= SIZE; j++) {
    for (let i = 1; i <= SIZE; i++) {
      const at = j * ROW + i;
      divergence[at] = h * (u[at + 1] - u[at - 1] + v[at + ROW] - v[at - ROW]);
      p[at] = 0;
    }
  }
  borders(0, divergence);
  borders(0, p);
  relax(0, p, divergence, 1, 4);
  for (let j = 1; j <= SIZE; j++) {
    for (let i = 1; i <= SIZE; i++) {
      const at = j * ROW + i;
      u[at] -= 0.5 * SIZE * (p[at + 1] - p[at - 1]);
      v[at] -= 0.5 * SIZE * (p[at + ROW] - p[at - ROW]);
    }
  }
  borders(1, u);
  borders(2, v);
}

let u = field(), v = field(), density = field(), u0 = field(), v0 = field(), density0 = field();
for (let step = 0; step < STEPS; step++) {
  for (let i = 10; i < 20; i++) {
    u[i * ROW + i] += 0.4;
    v[i * ROW + 15] -= 0.3;
    density[i * ROW + 20] += 1;
  }
  relax(1, u0, u, 0.016, 1.064);
  relax(2, v0, v, 0.016, 1.064);
  project(u0, v0, u, v);
  advect(1, u, u0, u0, v0, 0.1);
  advect(2, v, v0, u0, v0, 0.1);
  project(u, v, u0, v0);
  relax(0, density0, density, 0.016, 1.064);
  advect(0, density, density0, u, v, 0.1);
}
print(density.reduce((sum, x) => sum + x, 0).toFixed(6));
