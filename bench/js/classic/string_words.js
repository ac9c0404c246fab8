"use strict";
// Words of a made-up text: splitting, casing, maps and sorting, base64 by hand, reversing. Prints what was counted.
const SYLLABLES = ["ka", "lo", "mi", "ren", "sto", "ul", "vey", "or", "ta", "nis"];
let seed = 99;
function random(limit) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >>> 8) % limit;
}

let text = "";
for (let i = 0; i < 6000; i++) {
  let word = "";
  for (let j = 0, count = 1 + random(4); j < count; j++) word += SYLLABLES[random(10)];
  if (random(6) === 0) word = word[0].toUpperCase() + word.slice(1);
  text += word + (random(12) === 0 ? ". " : " ");
}

const counts = new Map();
for (const part of text.split(" ")) {
  const word = (part.endsWith(".") ? part.slice(0, -1) : part).toLowerCase();
  if (word !== "") counts.set(word, (counts.get(word) ?? 0) + 1);
}
const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
function base64(s) {
  let out = "";
  for (let i = 0; i < s.length; i += 3) {
    const bits = (s.charCodeAt(i) << 16) | ((s.charCodeAt(i + 1) || 0) << 8) | (s.charCodeAt(i + 2) || 0);
    out += ALPHABET[bits >> 18] + ALPHABET[(bits >> 12) & 63];
    out += i + 1 < s.length ? ALPHABET[(bits >> 6) & 63] : "=";
    out += i + 2 < s.length ? ALPHABET[bits & 63] : "=";
  }
  return out;
}

const coded = base64(text);
let palindromes = 0;
for (const [word] of ranked) if (word === [...word].reverse().join("")) palindromes++;
let checksum = 0;
for (let i = 0; i < coded.length; i++) checksum = (Math.imul(checksum, 31) + coded.charCodeAt(i)) | 0;
print(`${ranked.length} ${ranked.slice(0, 3).map((pair) => pair.join(":")).join(" ")} ${palindromes} ${checksum}`);
