"use strict";
// Big-number cryptography on plain arrays of 14-bit limbs: Montgomery exponentiation, Miller-Rabin primes, a small RSA
// round trip, and SHA-256 over what came out. Prints one checksum.

const BITS = 14;
const BASE = 1 << BITS;
const MASK = BASE - 1;

let state = 0x2545f491;
function random32() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}

function trim(a) {
  while (a.length > 0 && a[a.length - 1] === 0) a.pop();
  return a;
}

function compare(a, b) {
  if (a.length !== b.length) return a.length - b.length;
  for (let i = a.length - 1; i >= 0; i--) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}

function fromSmall(n) {
  const out = [];
  while (n > 0) {
    out.push(n & MASK);
    n = Math.floor(n / BASE);
  }
  return out;
}

function add(a, b) {
  const out = [];
  let carry = 0;
  for (let i = 0; i < a.length || i < b.length || carry > 0; i++) {
    carry += (i < a.length ? a[i] : 0) + (i < b.length ? b[i] : 0);
    out.push(carry & MASK);
    carry >>= BITS;
  }
  return out;
}

function subtract(a, b) {
  const out = [];
  let borrow = 0;
  for (let i = 0; i < a.length; i++) {
    borrow += a[i] - (i < b.length ? b[i] : 0);
    out.push(borrow & MASK);
    borrow >>= BITS;
  }
  return trim(out);
}

function multiply(a, b) {
  const out = new Array(a.length + b.length).fill(0);
  for (let i = 0; i < a.length; i++) {
    const x = a[i];
    let carry = 0;
    for (let j = 0; j < b.length; j++) {
      carry += out[i + j] + x * b[j];
      out[i + j] = carry & MASK;
      carry >>>= BITS;
    }
    out[i + b.length] = carry;
  }
  return trim(out);
}

function shiftLeftOne(a) {
  const out = [];
  let carry = 0;
  for (let i = 0; i < a.length; i++) {
    carry |= a[i] << 1;
    out.push(carry & MASK);
    carry >>= BITS;
  }
  if (carry > 0) out.push(carry);
  return out;
}

function bitLength(a) {
  return a.length === 0 ? 0 : (a.length - 1) * BITS + (32 - Math.clz32(a[a.length - 1]));
}

function bit(a, i) {
  const limb = Math.floor(i / BITS);
  return limb < a.length ? (a[limb] >> i % BITS) & 1 : 0;
}

function shiftRightOne(a) {
  const out = [];
  for (let i = 0; i < a.length; i++) out.push((a[i] >> 1) | (i + 1 < a.length ? (a[i + 1] & 1) << (BITS - 1) : 0));
  return trim(out);
}

// Schoolbook remainder, one bit at a time; used only to set Montgomery up.
function remainder(a, m) {
  let r = [];
  for (let i = bitLength(a) - 1; i >= 0; i--) {
    r = shiftLeftOne(r);
    if (bit(a, i) === 1) r = add(r, [1]);
    if (compare(r, m) >= 0) r = subtract(r, m);
  }
  return r;
}

function remainderSmall(a, n) {
  let r = 0;
  for (let i = a.length - 1; i >= 0; i--) r = (r * BASE + a[i]) % n;
  return r;
}

function Montgomery(modulus) {
  this.modulus = modulus;
  this.size = modulus.length;
  let inverse = 1;
  for (let i = 0; i < 4; i++) inverse = (inverse * (2 - ((modulus[0] * inverse) & MASK))) & MASK;
  this.factor = (BASE - (inverse & MASK)) & MASK;
  const r = new Array(this.size).fill(0);
  r.push(1);
  this.one = remainder(r, modulus);
  this.square = remainder(multiply(this.one, this.one), modulus);
}

// a * b / R mod m, limbs interleaved.
Montgomery.prototype.product = function (a, b) {
  const m = this.modulus;
  const n = this.size;
  const t = new Array(n + 2).fill(0);
  for (let i = 0; i < n; i++) {
    const x = i < a.length ? a[i] : 0;
    let carry = 0;
    for (let j = 0; j < n; j++) {
      carry += t[j] + x * (j < b.length ? b[j] : 0);
      t[j] = carry & MASK;
      carry >>>= BITS;
    }
    carry += t[n];
    t[n] = carry & MASK;
    t[n + 1] = carry >>> BITS;
    const q = (t[0] * this.factor) & MASK;
    carry = (t[0] + q * m[0]) >>> BITS;
    for (let j = 1; j < n; j++) {
      carry += t[j] + q * m[j];
      t[j - 1] = carry & MASK;
      carry >>>= BITS;
    }
    carry += t[n];
    t[n - 1] = carry & MASK;
    t[n] = t[n + 1] + (carry >>> BITS);
  }
  const out = trim(t.slice(0, n + 1));
  return compare(out, m) >= 0 ? subtract(out, m) : out;
};

Montgomery.prototype.power = function (base, exponent) {
  let result = this.one;
  const x = this.product(base, this.square);
  for (let i = bitLength(exponent) - 1; i >= 0; i--) {
    result = this.product(result, result);
    if (bit(exponent, i) === 1) result = this.product(result, x);
  }
  return this.product(result, [1]);
};

function randomBits(bits) {
  const limbs = Math.ceil(bits / BITS);
  const out = [];
  for (let i = 0; i < limbs; i++) out.push(random32() & MASK);
  const top = bits - (limbs - 1) * BITS;
  out[limbs - 1] = (out[limbs - 1] & ((1 << top) - 1)) | (1 << (top - 1));
  out[0] |= 1;
  return trim(out);
}

const SMALL_PRIMES = [];
for (let i = 3; i < 500; i += 2) {
  if (SMALL_PRIMES.every((p) => i % p !== 0)) SMALL_PRIMES.push(i);
}

function isProbablePrime(n, rounds) {
  if (SMALL_PRIMES.some((p) => remainderSmall(n, p) === 0)) return false;
  const field = new Montgomery(n);
  const last = subtract(n, [1]);
  let odd = last;
  let twos = 0;
  while ((odd[0] & 1) === 0) {
    odd = shiftRightOne(odd);
    twos++;
  }
  for (let round = 0; round < rounds; round++) {
    let x = field.power(fromSmall(2 + (random32() % 1000000)), odd);
    if (compare(x, [1]) === 0 || compare(x, last) === 0) continue;
    let composite = true;
    for (let i = 1; i < twos && composite; i++) {
      x = remainder(multiply(x, x), n);
      if (compare(x, last) === 0) composite = false;
    }
    if (composite) return false;
  }
  return true;
}

function randomPrime(bits) {
  for (;;) {
    const candidate = randomBits(bits);
    if (remainderSmall(candidate, 65537) !== 1 && isProbablePrime(candidate, 4)) return candidate;
  }
}

// The inverse of 65537 modulo phi: d = (1 + k * phi) / 65537 for the one k below 65537 that divides.
function privateExponent(phi) {
  const residue = remainderSmall(phi, 65537);
  let k = 1;
  while ((1 + k * residue) % 65537 !== 0) k++;
  const dividend = add(multiply(phi, fromSmall(k)), [1]);
  const quotient = new Array(dividend.length).fill(0);
  let r = 0;
  for (let i = dividend.length - 1; i >= 0; i--) {
    r = r * BASE + dividend[i];
    quotient[i] = Math.floor(r / 65537);
    r %= 65537;
  }
  return trim(quotient);
}

const ROUND_CONSTANTS = new Int32Array(64);
{
  const primes = [2].concat(SMALL_PRIMES);
  for (let i = 0; i < 64; i++) ROUND_CONSTANTS[i] = Math.floor((primes[i] * 2654435761) % 4294967296);
}

// The compression of SHA-256 with cheaper constants: the same mix of rotations, adds and typed arrays.
function digest(bytes) {
  const h = new Int32Array([0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]);
  const w = new Int32Array(64);
  for (let block = 0; block + 64 <= bytes.length; block += 64) {
    for (let i = 0; i < 16; i++) {
      const at = block + i * 4;
      w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15];
      const b = w[i - 2];
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, k] = h;
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (k + s1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      k = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
    h[5] += f;
    h[6] += g;
    h[7] += k;
  }
  return h;
}

const p = randomPrime(112);
const q = randomPrime(112);
const n = multiply(p, q);
const phi = multiply(subtract(p, [1]), subtract(q, [1]));
const d = privateExponent(phi);
const field = new Montgomery(n);
const bytes = new Uint8Array(64 * 40);
let right = 0;
for (let i = 0; i < /*n*/ 8; i++) {
  const message = randomBits(220);
  const cipher = field.power(message, fromSmall(65537));
  if (compare(field.power(cipher, d), message) === 0) right++;
  for (let j = 0; j < bytes.length; j++) bytes[j] = (bytes[j] * 3 + cipher[j % cipher.length]) & 0xff;
}
const h = digest(bytes);
let checksum = right;
for (let i = 0; i < 8; i++) checksum = (checksum * 131 + (h[i] >>> 0)) % 1000000007;
print(right + ":" + checksum);
