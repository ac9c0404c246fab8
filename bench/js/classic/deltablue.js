"use strict";
// One-way constraints of different strengths, kept by propagating along a plan, after the DeltaBlue algorithm: class hierarchies, lists,
// callbacks. Prints the values at the ends of a chain and a projection.
const REQUIRED = 0, PREFERRED = 2, DEFAULT = 4, WEAKEST = 6;

class Variable {
  constructor(value) {
    this.value = value;
    this.constraints = [];
    this.determinedBy = null;
    this.mark = 0;
    this.walkStrength = WEAKEST;
    this.stay = true;
  }
  remove(constraint) {
    const at = this.constraints.indexOf(constraint);
    if (at >= 0) this.constraints.splice(at, 1);
    if (this.determinedBy === constraint) this.determinedBy = null;
  }
}

class Constraint {
  constructor(strength) {
    this.strength = strength;
  }
  isInput() {
    return false;
  }
  addTo(planner) {
    for (const variable of this.variables()) variable.constraints.push(this);
    this.unsatisfy();
    planner.add(this);
  }
  destroy(planner) {
    if (this.isSatisfied()) planner.retract(this);
    else for (const variable of this.variables()) variable.remove(this);
  }
  satisfy(mark, planner) {
    this.choose(mark);
    if (!this.isSatisfied()) {
      if (this.strength === REQUIRED) throw new Error("a required constraint cannot be satisfied");
      return null;
    }
    for (const input of this.inputs()) input.mark = mark;
    const out = this.output(), overridden = out.determinedBy;
    if (overridden !== null) overridden.unsatisfy();
    out.determinedBy = this;
    if (!planner.propagate(this, mark)) throw new Error("cycle");
    out.mark = mark;
    return overridden;
  }
  inputsKnown(mark) {
    return this.inputs().every((v) => v.mark === mark || v.stay || v.determinedBy === null);
  }
}

class Unary extends Constraint {
  constructor(variable, strength, planner) {
    super(strength);
    this.variable = variable;
    this.satisfied = false;
    this.addTo(planner);
  }
  variables() {
    return [this.variable];
  }
  inputs() {
    return [];
  }
  output() {
    return this.variable;
  }
  isSatisfied() {
    return this.satisfied;
  }
  unsatisfy() {
    this.satisfied = false;
  }
  choose(mark) {
    this.satisfied = this.variable.mark !== mark && this.strength < this.variable.walkStrength;
  }
  recalculate() {
    this.variable.walkStrength = this.strength;
    this.variable.stay = !this.isInput();
  }
  execute() {}
}

class Edit extends Unary {
  isInput() {
    return true;
  }
}

class Binary extends Constraint {
  constructor(first, second, strength, planner) {
    super(strength);
    this.first = first;
    this.second = second;
    this.direction = 0;
    if (planner !== null) this.addTo(planner);
  }
  variables() {
    return [this.first, this.second];
  }
  input() {
    return this.direction > 0 ? this.first : this.second;
  }
  output() {
    return this.direction > 0 ? this.second : this.first;
  }
  inputs() {
    return [this.input()];
  }
  isSatisfied() {
    return this.direction !== 0;
  }
  unsatisfy() {
    this.direction = 0;
  }
  choose(mark) {
    const { first, second, strength } = this;
    if (first.mark === mark) {
      this.direction = second.mark !== mark && strength < second.walkStrength ? 1 : 0;
    } else if (second.mark === mark) {
      this.direction = strength < first.walkStrength ? -1 : 0;
    } else if (first.walkStrength > second.walkStrength) {
      this.direction = strength < first.walkStrength ? -1 : 0;
    } else {
      this.direction = strength < second.walkStrength ? 1 : 0;
    }
  }
  recalculate() {
    const from = this.input(), to = this.output();
    to.walkStrength = Math.max(this.strength, from.walkStrength);
    to.stay = from.stay;
    if (to.stay) this.execute();
  }
}

class Equality extends Binary {
  execute() {
    this.output().value = this.input().value;
  }
}

class Scale extends Binary {
  constructor(from, factor, offset, to, strength, planner) {
    super(from, to, strength, null);
    this.factor = factor;
    this.offset = offset;
    this.addTo(planner);
  }
  variables() {
    return [this.first, this.second, this.factor, this.offset];
  }
  inputs() {
    return [this.input(), this.factor, this.offset];
  }
  execute() {
    if (this.direction > 0) this.second.value = this.first.value * this.factor.value + this.offset.value;
    else this.first.value = (this.second.value - this.offset.value) / this.factor.value;
  }
  recalculate() {
    const from = this.input(), to = this.output();
    to.walkStrength = Math.max(this.strength, from.walkStrength);
    to.stay = from.stay && this.factor.stay && this.offset.stay;
    if (to.stay) this.execute();
  }
}

class Planner {
  constructor() {
    this.lastMark = 0;
  }
  add(constraint) {
    const mark = ++this.lastMark;
    for (let overridden = constraint.satisfy(mark, this); overridden !== null; ) {
      overridden = overridden.satisfy(mark, this);
    }
  }
  retract(constraint) {
    const out = constraint.output();
    constraint.unsatisfy();
    for (const variable of constraint.variables()) variable.remove(constraint);
    const unsatisfied = this.unsatisfiedBelow(out);
    for (let strength = REQUIRED; strength < WEAKEST; strength++) {
      for (const other of unsatisfied) if (other.strength === strength) this.add(other);
    }
  }
  unsatisfiedBelow(out) {
    out.determinedBy = null;
    out.walkStrength = WEAKEST;
    out.stay = true;
    const unsatisfied = [], todo = [out];
    while (todo.length > 0) {
      const variable = todo.pop();
      for (const constraint of variable.constraints) if (!constraint.isSatisfied()) unsatisfied.push(constraint);
      this.consumers(variable, (constraint) => {
        constraint.recalculate();
        todo.push(constraint.output());
      });
    }
    return unsatisfied;
  }
  consumers(variable, use) {
    for (const constraint of variable.constraints) {
      if (constraint !== variable.determinedBy && constraint.isSatisfied()) use(constraint);
    }
  }
  propagate(constraint, mark) {
    const todo = [constraint];
    while (todo.length > 0) {
      const next = todo.pop();
      if (next.output().mark === mark) return false;
      next.recalculate();
      this.consumers(next.output(), (constraint) => todo.push(constraint));
    }
    return true;
  }
  plan(sources) {
    const mark = ++this.lastMark, plan = [], todo = sources.slice();
    while (todo.length > 0) {
      const constraint = todo.pop();
      if (constraint.output().mark === mark || !constraint.inputsKnown(mark)) continue;
      plan.push(constraint);
      constraint.output().mark = mark;
      this.consumers(constraint.output(), (other) => todo.push(other));
    }
    return plan;
  }
}

function change(planner, variable, value) {
  const edit = new Edit(variable, PREFERRED, planner), plan = planner.plan([edit]);
  for (let i = 0; i < 10; i++) {
    variable.value = value;
    for (const constraint of plan) constraint.execute();
  }
  edit.destroy(planner);
}

function chain(length) {
  const planner = new Planner(), first = new Variable(0);
  let last = first;
  for (let i = 0; i < length; i++) {
    const next = new Variable(0);
    new Equality(last, next, REQUIRED, planner);
    last = next;
  }
  new Unary(last, DEFAULT, planner);
  let sum = 0;
  for (let i = 0; i < 20; i++) {
    change(planner, first, i);
    if (last.value !== i) throw new Error("chain");
    sum += last.value;
  }
  return sum;
}

function projection(size) {
  const planner = new Planner(), scale = new Variable(10), offset = new Variable(1000), all = [];
  let from = null, to = null;
  for (let i = 0; i < size; i++) {
    from = new Variable(i);
    to = new Variable(i);
    all.push(to);
    new Unary(from, DEFAULT, planner);
    new Scale(from, scale, offset, to, REQUIRED, planner);
  }
  change(planner, from, 17);
  const forth = to.value;
  change(planner, to, 1050);
  const back = from.value;
  change(planner, scale, 5);
  change(planner, offset, 2000);
  let sum = 0;
  for (let i = 0; i < size - 1; i++) sum += all[i].value;
  return forth + " " + back + " " + sum;
}

print(chain(300) + " " + projection(300));
