"use strict";
// The most flips of pancakes over all permutations of some numbers: int32 elements of short arrays. Prints checksum and most flips.
const COUNT = 8;

function fannkuch(n) {
  const order = [], flipped = [], counts = [];
  for (let i = 0; i < n; i++) order.push(i), flipped.push(0), counts.push(0);
  let most = 0, checksum = 0, even = true, r = n;
  for (;;) {
    while (r !== 1) {
      counts[r - 1] = r;
      r--;
    }
    for (let i = 0; i < n; i++) flipped[i] = order[i];
    let flips = 0;
    for (let top = flipped[0]; top !== 0; top = flipped[0]) {
      for (let low = 0, high = top; low < high; low++, high--) {
        const kept = flipped[low];
        flipped[low] = flipped[high];
        flipped[high] = kept;
      }
      flips++;
    }
    if (flips > most) most = flips;
    checksum += even ? flips : -flips;
    even = !even;
    for (;;) {
      if (r === n) return checksum + " " + most;
      const first = order[0];
      for (let i = 0; i < r; i++) order[i] = order[i + 1];
      order[r] = first;
      if (--counts[r] > 0) break;
      r++;
    }
  }
}

print(fannkuch(COUNT));
