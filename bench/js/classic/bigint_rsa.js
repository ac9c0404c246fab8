"use strict";
// Powers modulo a product of primes, and the test of Miller and Rabin, in BigInts. Prints a message that was sealed and opened.
function power(base, exponent, modulus) {
  let result = 1n;
  for (base %= modulus; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}

function isPrime(n) {
  if (n % 2n === 0n) return n === 2n;
  let odd = n - 1n, twos = 0;
  while (odd % 2n === 0n) odd /= 2n, twos++;
  next: for (const witness of [2n, 3n, 5n, 7n, 11n, 13n]) {
    if (n === witness) return true;
    let x = power(witness, odd, n);
    if (x === 1n || x === n - 1n) continue;
    for (let i = 1; i < twos; i++) {
      x = (x * x) % n;
      if (x === n - 1n) continue next;
    }
    return false;
  }
  return true;
}

function inverse(a, modulus) {
  let [r, s, x, y] = [modulus, a, 0n, 1n];
  while (s !== 0n) {
    const q = r / s;
    [r, s, x, y] = [s, r - q * s, y, x - q * y];
  }
  return x < 0n ? x + modulus : x;
}

function primeFrom(n) {
  while (!isPrime(n)) n += 2n;
  return n;
}

const p = primeFrom((1n << 128n) + 12345n), q = primeFrom((1n << 130n) + 54321n);
const modulus = p * q, open = 65537n, secret = inverse(open, (p - 1n) * (q - 1n));
let message = 123456789n;
for (let i = 0; i < 24; i++) {
  const sealed = power(message, open, modulus);
  if (power(sealed, secret, modulus) !== message) throw new Error("it does not open");
  message = (message * 31n + sealed) % modulus;
}
print((message % 1000000007n).toString());
