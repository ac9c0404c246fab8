"use strict";
// Sudokus by backtracking over sets of candidates, the most constrained cell first. Prints the solutions' checksum.
const PUZZLES = [
  "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
  "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..",
  "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
];
const STEPS_MAX = 4000;

class Sudoku {
  constructor(text) {
    this.cells = [];
    this.rows = new Array(9).fill(0);
    this.columns = new Array(9).fill(0);
    this.boxes = new Array(9).fill(0);
    this.steps = 0;
    for (let i = 0; i < 81; i++) {
      this.cells.push(0);
      if (text[i] !== ".") this.put(i, 1 << (text.charCodeAt(i) - 49));
    }
  }
  box(i) {
    return ((i / 27) | 0) * 3 + (((i % 9) / 3) | 0);
  }
  put(i, bit) {
    this.cells[i] = bit;
    this.rows[(i / 9) | 0] |= bit;
    this.columns[i % 9] |= bit;
    this.boxes[this.box(i)] |= bit;
  }
  take(i, bit) {
    this.cells[i] = 0;
    this.rows[(i / 9) | 0] &= ~bit;
    this.columns[i % 9] &= ~bit;
    this.boxes[this.box(i)] &= ~bit;
  }
  candidates(i) {
    return ~(this.rows[(i / 9) | 0] | this.columns[i % 9] | this.boxes[this.box(i)]) & 511;
  }
  solve() {
    if (++this.steps > STEPS_MAX) return true;
    let best = -1, fewest = 10, choices = 0;
    for (let i = 0; i < 81; i++) {
      if (this.cells[i] !== 0) continue;
      const bits = this.candidates(i);
      let count = 0;
      for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
      if (count < fewest) {
        best = i;
        fewest = count;
        choices = bits;
      }
    }
    if (best < 0) return true;
    while (choices !== 0) {
      const bit = choices & -choices;
      choices ^= bit;
      this.put(best, bit);
      if (this.solve()) return true;
      this.take(best, bit);
    }
    return false;
  }
}

let checksum = 0, steps = 0;
for (const puzzle of PUZZLES) {
  const sudoku = new Sudoku(puzzle);
  sudoku.solve();
  steps += sudoku.steps;
  for (const bit of sudoku.cells) checksum = (Math.imul(checksum, 33) + bit) | 0;
}
print(checksum + " " + steps);
