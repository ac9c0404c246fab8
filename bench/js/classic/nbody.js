"use strict";
// Planets under their own gravity (symplectic Euler): doubles in properties of few objects. Prints the energy, rounded.
const DAYS = 365.24;
const SOLAR_MASS = 4 * Math.PI * Math.PI;
const SCALE = 1;

class Body {
  constructor(x, y, z, vx, vy, vz, mass) {
    this.x = x;
    this.y = y;
    this.z = z;
    this.vx = vx * DAYS;
    this.vy = vy * DAYS;
    this.vz = vz * DAYS;
    this.mass = mass * SOLAR_MASS;
  }
}

const bodies = [
  new Body(0, 0, 0, 0, 0, 0, 1),
  new Body(4.841, -1.16, -0.1036, 0.00166, 0.0077, -0.00006905, 0.0009547919),
  new Body(8.343, 4.1247, -0.4035, -0.002767, 0.004998, 0.000023, 0.000285886),
  new Body(12.894, -15.111, -0.2233, 0.002964, 0.002378, -0.0000296, 0.0000436624),
  new Body(15.379, -25.919, 0.179, 0.00268, 0.001628, -0.0000951, 0.0000515139),
];

function still() {
  let px = 0, py = 0, pz = 0;
  for (const body of bodies) {
    px += body.vx * body.mass;
    py += body.vy * body.mass;
    pz += body.vz * body.mass;
  }
  bodies[0].vx = -px / SOLAR_MASS;
  bodies[0].vy = -py / SOLAR_MASS;
  bodies[0].vz = -pz / SOLAR_MASS;
}

function advance(dt) {
  const count = bodies.length;
  for (let i = 0; i < count; i++) {
    const a = bodies[i];
    for (let j = i + 1; j < count; j++) {
      const b = bodies[j];
      const dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
      const squared = dx * dx + dy * dy + dz * dz;
      const magnitude = dt / (squared * Math.sqrt(squared));
      a.vx -= dx * b.mass * magnitude;
      a.vy -= dy * b.mass * magnitude;
      a.vz -= dz * b.mass * magnitude;
      b.vx += dx * a.mass * magnitude;
      b.vy += dy * a.mass * magnitude;
      b.vz += dz * a.mass * magnitude;
    }
  }
  for (let i = 0; i < count; i++) {
    const body = bodies[i];
    body.x += dt * body.vx;
    body.y += dt * body.vy;
    body.z += dt * body.vz;
  }
}

function energy() {
  let sum = 0;
  for (let i = 0; i < bodies.length; i++) {
    const a = bodies[i];
    sum += 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz);
    for (let j = i + 1; j < bodies.length; j++) {
      const b = bodies[j];
      const dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
      sum -= (a.mass * b.mass) / Math.sqrt(dx * dx + dy * dy + dz * dz);
    }
  }
  return sum;
}

still();
const before = energy();
for (let i = 0; i < 20000 * SCALE; i++) advance(0.01);
print(before.toFixed(9) + " " + energy().toFixed(9));
