"use strict";
// Discrete-event simulation of a repair shop: a class hierarchy, polymorphic calls, accessors, private fields,
// closures as callbacks and a binary-heap calendar. Prints one checksum.

class Random {
  #state;
  constructor(seed) {
    this.#state = seed >>> 0;
  }
  next() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state;
  }
  below(limit) {
    return this.next() % limit;
  }
}

class Calendar {
  constructor() {
    this.heap = [];
    this.sequence = 0;
  }
  get size() {
    return this.heap.length;
  }
  schedule(time, target, payload) {
    const entry = { time, order: this.sequence++, target, payload };
    const heap = this.heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.before(entry, heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = entry;
  }
  before(a, b) {
    return a.time < b.time || (a.time === b.time && a.order < b.order);
  }
  next() {
    const heap = this.heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length > 0) {
      let at = 0;
      for (;;) {
        let child = 2 * at + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && this.before(heap[child + 1], heap[child])) child++;
        if (!this.before(heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
      }
      heap[at] = last;
    }
    return first;
  }
}

class Entity {
  constructor(world, name) {
    this.world = world;
    this.name = name;
    this.handled = 0;
  }
  receive(payload) {
    this.handled++;
    this.act(payload);
  }
  act() {
    throw new Error("abstract: " + this.name);
  }
  get load() {
    return 0;
  }
}

class Queue extends Entity {
  constructor(world, name) {
    super(world, name);
    this.items = [];
    this.head = 0;
  }
  get load() {
    return this.items.length - this.head;
  }
  put(item) {
    this.items.push(item);
  }
  take() {
    const item = this.items[this.head++];
    if (this.head > 64 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
  act(item) {
    this.put(item);
  }
}

class Station extends Queue {
  constructor(world, name, speed) {
    super(world, name);
    this.speed = speed;
    this.current = null;
    this.next = null;
  }
  connect(next) {
    this.next = next;
    return next;
  }
  act(item) {
    if (item === this.current) this.finish();
    else this.put(item);
    if (this.current === null && this.load > 0) this.start(this.take());
  }
  start(item) {
    this.current = item;
    this.world.after(this.duration(item), this, item);
  }
  finish() {
    const item = this.current;
    this.current = null;
    this.route(item).receive(item);
  }
  duration(item) {
    return this.speed + item.weight;
  }
  route() {
    return this.next;
  }
}

class Inspector extends Station {
  constructor(world, name, speed, retry) {
    super(world, name, speed);
    this.retry = retry;
    this.rejected = 0;
  }
  duration(item) {
    return super.duration(item) + (item.kind === "urgent" ? 0 : 3);
  }
  route(item) {
    if (item.visits++ < 3 && this.world.random.below(8) === 0) {
      this.rejected++;
      return this.retry;
    }
    return this.next;
  }
}

class Dispatcher extends Entity {
  constructor(world, name, lines) {
    super(world, name);
    this.lines = lines;
  }
  act(item) {
    let best = this.lines[0];
    for (const line of this.lines) if (line.load < best.load) best = line;
    best.receive(item);
  }
}

class Sink extends Entity {
  constructor(world, name) {
    super(world, name);
    this.total = 0;
    this.byKind = new Map();
  }
  act(item) {
    const spent = this.world.now - item.born;
    this.total = (this.total * 31 + spent) % 1000000007;
    this.byKind.set(item.kind, (this.byKind.get(item.kind) ?? 0) + 1);
  }
}

class Source extends Entity {
  constructor(world, name, remaining, target) {
    super(world, name);
    this.remaining = remaining;
    this.target = target;
  }
  act() {
    const random = this.world.random;
    const kinds = ["plain", "urgent", "fragile"];
    const item = { kind: kinds[random.below(3)], weight: 1 + random.below(9), born: this.world.now, visits: 0 };
    this.target.receive(item);
    if (--this.remaining > 0) this.world.after(1 + random.below(4), this, null);
  }
}

class World {
  constructor(seed) {
    this.now = 0;
    this.random = new Random(seed);
    this.calendar = new Calendar();
    this.listeners = [];
  }
  after(delay, target, payload) {
    this.calendar.schedule(this.now + delay, target, payload);
  }
  observe(listener) {
    this.listeners.push(listener);
  }
  run() {
    while (this.calendar.size > 0) {
      const event = this.calendar.next();
      this.now = event.time;
      event.target.receive(event.payload);
      for (const listener of this.listeners) listener(event);
    }
  }
}

function build(seed, jobs) {
  const world = new World(seed);
  const sink = new Sink(world, "sink");
  const lines = [];
  const dispatcher = new Dispatcher(world, "dispatcher", lines);
  for (let i = 0; i < 5; i++) {
    const cut = new Station(world, "cut" + i, 4 + i);
    const weld = new Station(world, "weld" + i, 6);
    const inspect = new Inspector(world, "inspect" + i, 2, dispatcher);
    cut.connect(weld).connect(inspect).connect(sink);
    lines.push(cut);
  }
  const source = new Source(world, "source", jobs, dispatcher);
  world.after(0, source, null);
  return { world, sink, lines };
}

let checksum = 0;
for (let seed = 1; seed <= 3; seed++) {
  const { world, sink, lines } = build(seed * 7919, /*n*/ 6000);
  let peak = 0;
  world.observe(() => {
    const load = lines[0].load;
    if (load > peak) peak = load;
  });
  world.run();
  let kinds = 0;
  for (const [kind, count] of sink.byKind) kinds += kind.length * count;
  checksum = (checksum * 17 + sink.total + kinds + peak + world.now) % 1000000007;
}
print(checksum);
