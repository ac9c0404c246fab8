"use strict";
// The game of life on a torus, cells in a Uint8Array. Prints how many live after each hundredth step.
const WIDTH = 64, HEIGHT = 64, STEPS = 100;

function step(from, to) {
  for (let y = 0; y < HEIGHT; y++) {
    const up = ((y + HEIGHT - 1) % HEIGHT) * WIDTH, here = y * WIDTH, down = ((y + 1) % HEIGHT) * WIDTH;
    for (let x = 0; x < WIDTH; x++) {
      const left = (x + WIDTH - 1) % WIDTH, right = (x + 1) % WIDTH;
      const near =
        from[up + left] + from[up + x] + from[up + right] + from[here + left] + from[here + right] +
        from[down + left] + from[down + x] + from[down + right];
      to[here + x] = near === 3 || (near === 2 && from[here + x] === 1) ? 1 : 0;
    }
  }
}

let now = new Uint8Array(WIDTH * HEIGHT), then = new Uint8Array(WIDTH * HEIGHT);
for (let i = 0, seed = 7; i < now.length; i++) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  now[i] = seed >>> 31;
}
for (let i = 0; i < STEPS; i++) {
  step(now, then);
  [now, then] = [then, now];
}
let living = 0, checksum = 0;
for (let i = 0; i < now.length; i++) {
  living += now[i];
  checksum = (Math.imul(checksum, 31) + now[i]) | 0;
}
print(living + " " + checksum);
