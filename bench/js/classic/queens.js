"use strict";
// Queens on a board: once with sets of bits, once with arrays of booleans. Prints how many ways there are.
function byBits(all, columns, left, right) {
  if (columns === all) return 1;
  let ways = 0;
  for (let free = all & ~(columns | left | right); free !== 0; ) {
    const bit = free & -free;
    free ^= bit;
    ways += byBits(all, columns | bit, ((left | bit) << 1) & all, (right | bit) >> 1);
  }
  return ways;
}

function byArrays(size) {
  const columns = new Array(size).fill(false);
  const rising = new Array(2 * size).fill(false);
  const falling = new Array(2 * size).fill(false);
  function place(row) {
    if (row === size) return 1;
    let ways = 0;
    for (let column = 0; column < size; column++) {
      const up = row + column, down = row - column + size;
      if (columns[column] || rising[up] || falling[down]) continue;
      columns[column] = rising[up] = falling[down] = true;
      ways += place(row + 1);
      columns[column] = rising[up] = falling[down] = false;
    }
    return ways;
  }
  return place(0);
}

print(byBits((1 << 11) - 1, 0, 0, 0) + " " + byArrays(9));
