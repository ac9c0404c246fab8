"use strict";
// Which points of the plane stay bounded under z*z + c: local doubles only. Prints how many, and a checksum of the steps.
const SIZE = 160;
const STEPS_MAX = 60;

function mandelbrot(size) {
  let inside = 0, checksum = 0;
  for (let row = 0; row < size; row++) {
    const ci = (2 * row) / size - 1;
    for (let column = 0; column < size; column++) {
      const cr = (2 * column) / size - 1.5;
      let zr = 0, zi = 0, r2 = 0, i2 = 0, steps = 0;
      while (steps < STEPS_MAX && r2 + i2 <= 4) {
        zi = 2 * zr * zi + ci;
        zr = r2 - i2 + cr;
        r2 = zr * zr;
        i2 = zi * zi;
        steps++;
      }
      if (steps === STEPS_MAX) inside++;
      checksum = (checksum * 31 + steps) | 0;
    }
  }
  return inside + " " + checksum;
}

print(mandelbrot(SIZE));
