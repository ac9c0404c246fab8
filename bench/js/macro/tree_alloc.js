"use strict";
// Heavy allocation with a live set that survives: a persistent AVL tree (every update copies its path), old versions kept
// for a while as snapshots, and full binary trees built and dropped in between. Prints one checksum.

const EMPTY = null;

function height(tree) {
  return tree === EMPTY ? 0 : tree.height;
}

function node(key, value, left, right) {
  const l = height(left);
  const r = height(right);
  return { key, value, left, right, height: (l > r ? l : r) + 1 };
}

function balance(key, value, left, right) {
  const difference = height(left) - height(right);
  if (difference > 1) {
    if (height(left.left) >= height(left.right)) {
      return node(left.key, left.value, left.left, node(key, value, left.right, right));
    }
    const pivot = left.right;
    return node(pivot.key, pivot.value, node(left.key, left.value, left.left, pivot.left), node(key, value, pivot.right, right));
  }
  if (difference < -1) {
    if (height(right.right) >= height(right.left)) {
      return node(right.key, right.value, node(key, value, left, right.left), right.right);
    }
    const pivot = right.left;
    return node(pivot.key, pivot.value, node(key, value, left, pivot.left), node(right.key, right.value, pivot.right, right.right));
  }
  return node(key, value, left, right);
}

function insert(tree, key, value) {
  if (tree === EMPTY) return node(key, value, EMPTY, EMPTY);
  if (key < tree.key) return balance(tree.key, tree.value, insert(tree.left, key, value), tree.right);
  if (key > tree.key) return balance(tree.key, tree.value, tree.left, insert(tree.right, key, value));
  return node(key, value, tree.left, tree.right);
}

function leftmost(tree) {
  while (tree.left !== EMPTY) tree = tree.left;
  return tree;
}

function remove(tree, key) {
  if (tree === EMPTY) return EMPTY;
  if (key < tree.key) return balance(tree.key, tree.value, remove(tree.left, key), tree.right);
  if (key > tree.key) return balance(tree.key, tree.value, tree.left, remove(tree.right, key));
  if (tree.left === EMPTY) return tree.right;
  if (tree.right === EMPTY) return tree.left;
  const heir = leftmost(tree.right);
  return balance(heir.key, heir.value, tree.left, remove(tree.right, heir.key));
}

function fold(tree) {
  if (tree === EMPTY) return 1;
  return (fold(tree.left) * 3 + tree.key + tree.value.payload[0] + fold(tree.right)) % 1000003;
}

function full(depth) {
  return depth === 0 ? { left: null, right: null } : { left: full(depth - 1), right: full(depth - 1) };
}

function count(tree) {
  return tree.left === null ? 1 : 1 + count(tree.left) + count(tree.right);
}

let seed = 99;
function random(limit) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return (seed >>> 4) % limit;
}

const snapshots = [];
let tree = EMPTY;
let checksum = 0;
const updates = /*n*/ 15000;
for (let i = 0; i < updates; i++) {
  const key = random(8192);
  if (random(3) === 0) tree = remove(tree, key);
  else tree = insert(tree, key, { payload: [i, key, i ^ key], label: "k" + key });
  if (i % 500 === 0) {
    snapshots.push(tree);
    if (snapshots.length > 16) checksum = (checksum * 7 + fold(snapshots.shift())) % 1000000007;
    checksum = (checksum + count(full(9))) % 1000000007;
  }
}
print(((checksum * 7 + fold(tree)) % 1000000007) + ":" + height(tree));
