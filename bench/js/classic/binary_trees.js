"use strict";
// Trees that are made, counted and thrown away: allocation and recursion. Prints the sum of the counts.
const DEPTH = 11;

class Node {
  constructor(left, right) {
    this.left = left;
    this.right = right;
  }
  count() {
    return this.left === null ? 1 : 1 + this.left.count() + this.right.count();
  }
}

function tree(depth) {
  return depth === 0 ? new Node(null, null) : new Node(tree(depth - 1), tree(depth - 1));
}

let sum = tree(DEPTH + 1).count();
const kept = tree(DEPTH);
for (let depth = 4; depth <= DEPTH; depth += 2) {
  for (let i = 0, trees = 1 << (DEPTH - depth + 4); i < trees; i++) sum += tree(depth).count();
}
print(sum + kept.count());
