"use strict";
// SHA-256 of a long message: int32 arithmetic that wraps, in typed arrays. Prints the digest.
const ROUNDS = new Uint32Array(64), INITIAL = new Uint32Array(8);
for (let candidate = 2, found = 0; found < 64; candidate++) {
  let prime = true;
  for (let i = 2; i * i <= candidate; i++) if (candidate % i === 0) prime = false;
  if (!prime) continue;
  if (found < 8) INITIAL[found] = (Math.sqrt(candidate) % 1) * 4294967296;
  ROUNDS[found++] = (Math.cbrt(candidate) % 1) * 4294967296;
}

function rotated(x, n) {
  return (x >>> n) | (x << (32 - n));
}

function block(state, words, bytes, at) {
  for (let i = 0; i < 16; i++, at += 4) {
    words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15], y = words[i - 2];
    const low = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
    const high = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
    words[i] = (words[i - 16] + low + words[i - 7] + high) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0;
    d = c; c = b; b = a; a = (one + two) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

function sha256(message) {
  const length = ((message.length + 8) >> 6) * 64 + 64;
  const bytes = new Uint8Array(length);
  bytes.set(message);
  bytes[message.length] = 128;
  new DataView(bytes.buffer).setUint32(length - 4, message.length * 8);
  const state = new Int32Array(INITIAL), words = new Int32Array(64);
  for (let at = 0; at < length; at += 64) block(state, words, bytes, at);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

const message = new Uint8Array(60000);
for (let i = 0; i < message.length; i++) message[i] = (i * 7) & 255;
print(sha256([97, 98, 99]).slice(0, 8) + " " + sha256(message));
