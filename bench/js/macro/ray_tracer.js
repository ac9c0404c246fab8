"use strict";
// A recursive ray tracer: spheres and a chequered floor, shadows, reflections, short-lived vector objects everywhere.
// Square roots only (exactly rounded), so every engine prints the same checksum.

function Vector(x, y, z) {
  this.x = x;
  this.y = y;
  this.z = z;
}
Vector.prototype.plus = function (v) {
  return new Vector(this.x + v.x, this.y + v.y, this.z + v.z);
};
Vector.prototype.minus = function (v) {
  return new Vector(this.x - v.x, this.y - v.y, this.z - v.z);
};
Vector.prototype.times = function (k) {
  return new Vector(this.x * k, this.y * k, this.z * k);
};
Vector.prototype.dot = function (v) {
  return this.x * v.x + this.y * v.y + this.z * v.z;
};
Vector.prototype.unit = function () {
  return this.times(1 / Math.sqrt(this.dot(this)));
};
Vector.prototype.reflect = function (normal) {
  return this.minus(normal.times(2 * this.dot(normal)));
};

function Sphere(centre, radius, colour, mirror) {
  this.centre = centre;
  this.radius = radius;
  this.colour = colour;
  this.mirror = mirror;
}
Sphere.prototype.hit = function (origin, direction) {
  const offset = origin.minus(this.centre);
  const half = offset.dot(direction);
  const discriminant = half * half - offset.dot(offset) + this.radius * this.radius;
  if (discriminant <= 0) return Infinity;
  const root = Math.sqrt(discriminant);
  const near = -half - root;
  if (near > 1e-6) return near;
  const far = -half + root;
  return far > 1e-6 ? far : Infinity;
};
Sphere.prototype.normal = function (point) {
  return point.minus(this.centre).unit();
};
Sphere.prototype.shade = function () {
  return this.colour;
};

function Floor(height, mirror) {
  this.height = height;
  this.mirror = mirror;
  this.white = new Vector(0.9, 0.9, 0.85);
  this.black = new Vector(0.15, 0.15, 0.2);
  this.up = new Vector(0, 1, 0);
}
Floor.prototype.hit = function (origin, direction) {
  if (direction.y > -1e-6) return Infinity;
  return (this.height - origin.y) / direction.y;
};
Floor.prototype.normal = function () {
  return this.up;
};
Floor.prototype.shade = function (point) {
  return ((Math.floor(point.x) + Math.floor(point.z)) & 1) === 0 ? this.white : this.black;
};

const things = [
  new Floor(-1, 0.1),
  new Sphere(new Vector(0, 0, 6), 1, new Vector(0.9, 0.2, 0.2), 0.3),
  new Sphere(new Vector(2, -0.25, 5), 0.75, new Vector(0.2, 0.7, 0.3), 0.2),
  new Sphere(new Vector(-2, 0.25, 7), 1.25, new Vector(0.3, 0.3, 0.9), 0.5),
  new Sphere(new Vector(0.75, -0.625, 3.5), 0.375, new Vector(0.9, 0.8, 0.1), 0.1),
];
const lights = [
  { at: new Vector(-4, 6, 0), power: 0.7 },
  { at: new Vector(5, 4, 2), power: 0.4 },
];
const SKY = new Vector(0.4, 0.6, 0.9);

function nearest(origin, direction) {
  let best = { distance: Infinity, thing: null };
  for (const thing of things) {
    const distance = thing.hit(origin, direction);
    if (distance > 1e-6 && distance < best.distance) best = { distance, thing };
  }
  return best;
}

function lit(point, normal) {
  let amount = 0.15;
  for (const light of lights) {
    const path = light.at.minus(point);
    const direction = path.unit();
    const facing = direction.dot(normal);
    if (facing <= 0) continue;
    const blocker = nearest(point.plus(normal.times(1e-4)), direction);
    if (blocker.distance * blocker.distance > path.dot(path)) amount += light.power * facing;
  }
  return amount;
}

function trace(origin, direction, depth) {
  const { distance, thing } = nearest(origin, direction);
  if (thing === null) return SKY.times(0.5 + 0.5 * direction.y);
  const point = origin.plus(direction.times(distance));
  const normal = thing.normal(point);
  const own = thing.shade(point).times(lit(point, normal) * (1 - thing.mirror));
  if (depth === 0) return own;
  const bounced = trace(point.plus(normal.times(1e-4)), direction.reflect(normal), depth - 1);
  return own.plus(bounced.times(thing.mirror));
}

function channel(value) {
  return Math.max(0, Math.min(255, Math.floor(value * 256)));
}

const width = 96;
const height = /*n*/ 64;
const eye = new Vector(0, 0.5, -1);
let checksum = 0;
for (let y = 0; y < height; y++) {
  for (let x = 0; x < width; x++) {
    const direction = new Vector((x - width / 2) / width, (height / 2 - y) / height, 1).unit();
    const colour = trace(eye, direction, 3);
    const packed = (channel(colour.x) << 16) | (channel(colour.y) << 8) | channel(colour.z);
    checksum = (checksum * 33 + packed) % 1000000007;
  }
}
print(checksum);
