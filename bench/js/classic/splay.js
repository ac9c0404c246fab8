"use strict";
// A splay tree whose nodes come and go, with payloads of arrays and strings: allocation that lives for a while. Prints sums.
const SIZE = 1500, CHANGES = 6000;

class Node {
  constructor(key, payload) {
    this.key = key;
    this.payload = payload;
    this.left = null;
    this.right = null;
  }
}

class SplayTree {
  constructor() {
    this.root = null;
    this.size = 0;
  }
  splay(key) {
    if (this.root === null) return;
    const dummy = new Node(0, null);
    let left = dummy, right = dummy, top = this.root;
    for (;;) {
      if (key < top.key) {
        if (top.left === null) break;
        if (key < top.left.key) {
          const next = top.left;
          top.left = next.right;
          next.right = top;
          top = next;
          if (top.left === null) break;
        }
        right.left = top;
        right = top;
        top = top.left;
      } else if (key > top.key) {
        if (top.right === null) break;
        if (key > top.right.key) {
          const next = top.right;
          top.right = next.left;
          next.left = top;
          top = next;
          if (top.right === null) break;
        }
        left.right = top;
        left = top;
        top = top.right;
      } else break;
    }
    left.right = top.left;
    right.left = top.right;
    top.left = dummy.right;
    top.right = dummy.left;
    this.root = top;
  }
  insert(key, payload) {
    this.splay(key);
    if (this.root !== null && this.root.key === key) return false;
    const node = new Node(key, payload);
    if (this.root !== null) {
      if (key > this.root.key) {
        node.left = this.root;
        node.right = this.root.right;
        this.root.right = null;
      } else {
        node.right = this.root;
        node.left = this.root.left;
        this.root.left = null;
      }
    }
    this.root = node;
    this.size++;
    return true;
  }
  remove(key) {
    this.splay(key);
    if (this.root === null || this.root.key !== key) return null;
    const removed = this.root;
    if (removed.left === null) this.root = removed.right;
    else {
      const right = removed.right;
      this.root = removed.left;
      this.splay(key);
      this.root.right = right;
    }
    this.size--;
    return removed;
  }
  below(key) {
    this.splay(key);
    let node = this.root;
    if (node === null || node.key < key) return node;
    node = node.left;
    while (node !== null && node.right !== null) node = node.right;
    return node;
  }
}

function payload(depth, tag) {
  if (depth === 0) return { numbers: [0, 1, 2, 3, 4, 5, 6, 7], text: "leaf " + tag };
  return { left: payload(depth - 1, tag), right: payload(depth - 1, tag) };
}

let seed = 49734321;
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 4294967296;
}

const tree = new SplayTree();
function insertNew() {
  let key;
  do key = random();
  while (!tree.insert(key, payload(3, Math.floor(key * 1000))));
  return key;
}

for (let i = 0; i < SIZE; i++) insertNew();
let sum = 0;
for (let i = 0; i < CHANGES; i++) {
  const key = insertNew(), below = tree.below(key);
  const removed = tree.remove(below === null ? key : below.key);
  sum = (sum + removed.payload.left.left.right.text.length) % 65521;
}
print(tree.size + " " + sum);
