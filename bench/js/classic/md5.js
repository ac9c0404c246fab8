"use strict";
// MD5 over strings by small functions in a table: closures that are called through an array. Prints the last digest.
const SHIFTS = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
const SINES = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 4294967296) | 0);
const MIXES = [
  (b, c, d) => (b & c) | (~b & d),
  (b, c, d) => (d & b) | (~d & c),
  (b, c, d) => b ^ c ^ d,
  (b, c, d) => c ^ (b | ~d),
];
const PLACES = [(i) => i, (i) => (5 * i + 1) & 15, (i) => (3 * i + 5) & 15, (i) => (7 * i) & 15];

function md5(text) {
  const words = [];
  for (let i = 0; i < text.length; i++) words[i >> 2] |= text.charCodeAt(i) << ((i & 3) * 8);
  words[text.length >> 2] |= 128 << ((text.length & 3) * 8);
  const blocks = ((text.length + 8) >> 6) + 1;
  for (let i = 0; i < blocks * 16; i++) words[i] |= 0;
  words[blocks * 16 - 2] = text.length * 8;
  let a = 0x67452301, b = 0xefcdab89 | 0, c = 0x98badcfe | 0, d = 0x10325476;
  for (let at = 0; at < blocks * 16; at += 16) {
    const [a0, b0, c0, d0] = [a, b, c, d];
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const sum = (a + MIXES[round](b, c, d) + SINES[i] + words[at + PLACES[round](i)]) | 0;
      const shift = SHIFTS[round][i & 3];
      a = d; d = c; c = b;
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
    }
    a = (a + a0) | 0; b = (b + b0) | 0; c = (c + c0) | 0; d = (d + d0) | 0;
  }
  let out = "";
  for (const word of [a, b, c, d]) {
    for (let i = 0; i < 4; i++) out += ((word >>> (i * 8)) & 255).toString(16).padStart(2, "0");
  }
  return out;
}

let digest = md5("abc");
const first = digest.slice(0, 8);
for (let i = 0; i < 1500; i++) digest = md5(digest + i);
print(first + " " + digest);
