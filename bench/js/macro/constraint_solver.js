"use strict";
// A finite-domain constraint solver: bit-mask domains, propagation queues, smallest-domain-first search with a trail.
// Solves Latin-square completion, a magic square and graph colouring. Prints one checksum.

function popcount(x) {
  x = x - ((x >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  x = (x + (x >>> 4)) & 0x0f0f0f0f;
  return (x * 0x01010101) >>> 24;
}

function lowest(x) {
  return 31 - Math.clz32(x & -x);
}

function highest(x) {
  return 31 - Math.clz32(x);
}

function Solver() {
  this.domains = [];
  this.watchers = [];
  this.trail = [];
  this.pending = [];
  this.queued = [];
  this.constraints = [];
  this.nodes = 0;
  this.failures = 0;
}

Solver.prototype.variable = function (mask) {
  this.domains.push(mask);
  this.watchers.push([]);
  return this.domains.length - 1;
};

Solver.prototype.post = function (constraint) {
  const index = this.constraints.length;
  this.constraints.push(constraint);
  this.queued.push(false);
  constraint.vars.forEach((v) => this.watchers[v].push(index));
  this.enqueue(index);
};

Solver.prototype.enqueue = function (index) {
  if (this.queued[index]) return;
  this.queued[index] = true;
  this.pending.push(index);
};

// Narrows one domain and wakes its watchers; false when it became empty.
Solver.prototype.narrow = function (v, mask) {
  const old = this.domains[v];
  const now = old & mask;
  if (now === old) return true;
  this.trail.push(v, old);
  this.domains[v] = now;
  if (now === 0) return false;
  const watchers = this.watchers[v];
  for (let i = 0; i < watchers.length; i++) this.enqueue(watchers[i]);
  return true;
};

Solver.prototype.propagate = function () {
  while (this.pending.length > 0) {
    const index = this.pending.pop();
    this.queued[index] = false;
    if (!this.constraints[index].filter(this)) {
      while (this.pending.length > 0) this.queued[this.pending.pop()] = false;
      this.failures++;
      return false;
    }
  }
  return true;
};

Solver.prototype.undo = function (mark) {
  while (this.trail.length > mark) {
    const old = this.trail.pop();
    this.domains[this.trail.pop()] = old;
  }
};

Solver.prototype.choose = function () {
  let best = -1;
  let size = 99;
  for (let v = 0; v < this.domains.length; v++) {
    const count = popcount(this.domains[v]);
    if (count > 1 && count < size) {
      size = count;
      best = v;
    }
  }
  return best;
};

// Depth-first search; `limit` bounds the number of solutions wanted.
Solver.prototype.search = function (onSolution, limit) {
  if (!this.propagate()) return limit;
  this.nodes++;
  const v = this.choose();
  if (v < 0) {
    onSolution(this.domains);
    return limit - 1;
  }
  let values = this.domains[v];
  while (values !== 0 && limit > 0) {
    const bit = values & -values;
    values ^= bit;
    const mark = this.trail.length;
    this.narrow(v, bit);
    limit = this.search(onSolution, limit);
    this.undo(mark);
  }
  return limit;
};

function AllDifferent(vars) {
  this.vars = vars;
}

AllDifferent.prototype.filter = function (solver) {
  const vars = this.vars;
  let fixed = 0;
  let union = 0;
  for (let i = 0; i < vars.length; i++) {
    const d = solver.domains[vars[i]];
    union |= d;
    if ((d & (d - 1)) === 0) {
      if ((fixed & d) !== 0) return false;
      fixed |= d;
    }
  }
  if (popcount(union) < vars.length) return false;
  for (let i = 0; i < vars.length; i++) {
    const d = solver.domains[vars[i]];
    if ((d & (d - 1)) !== 0 && (d & fixed) !== 0 && !solver.narrow(vars[i], ~fixed)) return false;
  }
  return true;
};

function NotEqual(a, b) {
  this.vars = [a, b];
}

NotEqual.prototype.filter = function (solver) {
  const a = solver.domains[this.vars[0]];
  const b = solver.domains[this.vars[1]];
  if ((a & (a - 1)) === 0 && !solver.narrow(this.vars[1], ~a)) return false;
  if ((b & (b - 1)) === 0 && !solver.narrow(this.vars[0], ~b)) return false;
  return true;
};

function SumEquals(vars, total) {
  this.vars = vars;
  this.total = total;
}

SumEquals.prototype.filter = function (solver) {
  const vars = this.vars;
  let low = 0;
  let high = 0;
  for (let i = 0; i < vars.length; i++) {
    low += lowest(solver.domains[vars[i]]);
    high += highest(solver.domains[vars[i]]);
  }
  if (low > this.total || high < this.total) return false;
  for (let i = 0; i < vars.length; i++) {
    const d = solver.domains[vars[i]];
    const most = this.total - (low - lowest(d));
    const least = this.total - (high - highest(d));
    let mask = -1;
    if (most < 31) mask &= (1 << (most + 1)) - 1;
    if (least > 0) mask &= -1 << least;
    if (!solver.narrow(vars[i], mask)) return false;
  }
  return true;
};

let seed = 20241;
function random(limit) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >>> 8) % limit;
}

let checksum = 0;
function fold(domains) {
  for (let i = 0; i < domains.length; i++) checksum = (checksum * 31 + lowest(domains[i])) % 1000000007;
}

function latinSquare(size, holes) {
  const solver = new Solver();
  const cell = [];
  for (let r = 0; r < size; r++) {
    for (let c = 0; c < size; c++) {
      const given = (r * 4 + c * (size - 1)) % size;
      cell.push(solver.variable(random(100) < holes ? (1 << size) - 1 : 1 << given));
    }
  }
  for (let r = 0; r < size; r++) {
    const row = [];
    const column = [];
    for (let c = 0; c < size; c++) {
      row.push(cell[r * size + c]);
      column.push(cell[c * size + r]);
    }
    solver.post(new AllDifferent(row));
    solver.post(new AllDifferent(column));
  }
  return solver;
}

function magicSquare(size) {
  const solver = new Solver();
  const cells = [];
  const values = size * size;
  for (let i = 0; i < values; i++) cells.push(solver.variable(((1 << values) - 1) << 1));
  const total = (size * (values + 1)) / 2;
  solver.post(new AllDifferent(cells));
  for (let i = 0; i < size; i++) {
    solver.post(new SumEquals(cells.slice(i * size, i * size + size), total));
    solver.post(new SumEquals(cells.filter((_, at) => at % size === i), total));
  }
  solver.post(new SumEquals(cells.filter((_, at) => at % (size + 1) === 0), total));
  solver.post(new SumEquals(cells.filter((_, at) => at % (size - 1) === 0 && at > 0 && at < values - 1), total));
  return solver;
}

function colouring(nodes, edges, colours) {
  const solver = new Solver();
  const vars = [];
  for (let i = 0; i < nodes; i++) vars.push(solver.variable((1 << colours) - 1));
  for (let i = 0; i < edges; i++) {
    const a = random(nodes);
    const b = random(nodes);
    if (a !== b) solver.post(new NotEqual(vars[a], vars[b]));
  }
  return solver;
}

const work = [];
for (let i = 0; i < /*n*/ 40; i++) work.push(latinSquare(9, 60), colouring(60, 130, 4));
work.push(magicSquare(4));
for (const solver of work) {
  solver.search(fold, 4);
  checksum = (checksum * 31 + solver.nodes * 7 + solver.failures) % 1000000007;
}
print(checksum);
