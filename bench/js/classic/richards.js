"use strict";
// The kernel of an operating system that schedules tasks, after Martin Richards' benchmark: linked lists of objects, states as flags,
// polymorphic calls. Prints how many packets were queued and how often tasks were held.
const IDLE = 0, WORKER = 1, HANDLER_A = 2, HANDLER_B = 3, DEVICE_A = 4, DEVICE_B = 5;
const RUNNING = 0, RUNNABLE = 1, SUSPENDED = 2, HELD = 4;
const KIND_DEVICE = 0, KIND_WORK = 1, DATA_SIZE = 4;
const COUNT = 2000;

class Packet {
  constructor(link, task, kind) {
    this.link = link;
    this.task = task;
    this.kind = kind;
    this.datum = 0;
    this.data = [0, 0, 0, 0];
  }
  appendedTo(queue) {
    this.link = null;
    if (queue === null) return this;
    let last = queue;
    while (last.link !== null) last = last.link;
    last.link = this;
    return queue;
  }
}

class Control {
  constructor(link, id, priority, queue, task) {
    this.link = link;
    this.id = id;
    this.priority = priority;
    this.queue = queue;
    this.state = queue === null ? SUSPENDED : SUSPENDED | RUNNABLE;
    this.task = task;
  }
  get isBlocked() {
    return (this.state & HELD) !== 0 || this.state === SUSPENDED;
  }
  run() {
    let packet = null;
    if (this.state === (SUSPENDED | RUNNABLE)) {
      packet = this.queue;
      this.queue = packet.link;
      this.state = this.queue === null ? RUNNING : RUNNABLE;
    }
    return this.task.run(packet);
  }
  add(task, packet) {
    if (this.queue !== null) {
      this.queue = packet.appendedTo(this.queue);
      return task;
    }
    this.queue = packet;
    this.state |= RUNNABLE;
    return this.priority > task.priority ? this : task;
  }
}

class Scheduler {
  constructor() {
    this.queued = 0;
    this.held = 0;
    this.list = null;
    this.current = null;
    this.blocks = new Array(6).fill(null);
  }
  addTask(id, priority, queue, task, running) {
    this.list = new Control(this.list, id, priority, queue, task);
    this.blocks[id] = this.list;
    if (running) this.list.state = RUNNING;
  }
  schedule() {
    this.current = this.list;
    while (this.current !== null) {
      if (this.current.isBlocked) this.current = this.current.link;
      else this.current = this.current.run();
    }
  }
  release(id) {
    const task = this.blocks[id];
    task.state &= ~HELD;
    return task.priority > this.current.priority ? task : this.current;
  }
  hold() {
    this.held++;
    this.current.state |= HELD;
    return this.current.link;
  }
  suspend() {
    this.current.state |= SUSPENDED;
    return this.current;
  }
  queue(packet) {
    const task = this.blocks[packet.task];
    this.queued++;
    packet.link = null;
    packet.task = this.current.id;
    return task.add(this.current, packet);
  }
}

class IdleTask {
  constructor(scheduler, seed, count) {
    this.scheduler = scheduler;
    this.seed = seed;
    this.count = count;
  }
  run() {
    if (--this.count === 0) return this.scheduler.hold();
    if ((this.seed & 1) === 0) {
      this.seed >>= 1;
      return this.scheduler.release(DEVICE_A);
    }
    this.seed = (this.seed >> 1) ^ 0xd008;
    return this.scheduler.release(DEVICE_B);
  }
}

class DeviceTask {
  constructor(scheduler) {
    this.scheduler = scheduler;
    this.waiting = null;
  }
  run(packet) {
    if (packet !== null) {
      this.waiting = packet;
      return this.scheduler.hold();
    }
    if (this.waiting === null) return this.scheduler.suspend();
    const waiting = this.waiting;
    this.waiting = null;
    return this.scheduler.queue(waiting);
  }
}

class WorkerTask {
  constructor(scheduler) {
    this.scheduler = scheduler;
    this.handler = HANDLER_A;
    this.letter = 0;
  }
  run(packet) {
    if (packet === null) return this.scheduler.suspend();
    this.handler = this.handler === HANDLER_A ? HANDLER_B : HANDLER_A;
    packet.task = this.handler;
    packet.datum = 0;
    for (let i = 0; i < DATA_SIZE; i++) {
      this.letter = this.letter === 26 ? 1 : this.letter + 1;
      packet.data[i] = this.letter;
    }
    return this.scheduler.queue(packet);
  }
}

class HandlerTask {
  constructor(scheduler) {
    this.scheduler = scheduler;
    this.work = null;
    this.devices = null;
  }
  run(packet) {
    if (packet !== null) {
      if (packet.kind === KIND_WORK) this.work = packet.appendedTo(this.work);
      else this.devices = packet.appendedTo(this.devices);
    }
    if (this.work === null) return this.scheduler.suspend();
    const work = this.work, at = work.datum;
    if (at >= DATA_SIZE) {
      this.work = work.link;
      return this.scheduler.queue(work);
    }
    if (this.devices === null) return this.scheduler.suspend();
    const device = this.devices;
    this.devices = device.link;
    device.datum = work.data[at];
    work.datum = at + 1;
    return this.scheduler.queue(device);
  }
}

function packets(task, kind, count) {
  let queue = null;
  for (let i = 0; i < count; i++) queue = new Packet(queue, task, kind);
  return queue;
}

let result = "";
for (let round = 0; round < 8; round++) {
  const scheduler = new Scheduler();
  scheduler.addTask(IDLE, 0, null, new IdleTask(scheduler, 1, COUNT), true);
  scheduler.addTask(WORKER, 1000, packets(WORKER, KIND_WORK, 2), new WorkerTask(scheduler), false);
  scheduler.addTask(HANDLER_A, 2000, packets(DEVICE_A, KIND_DEVICE, 3), new HandlerTask(scheduler), false);
  scheduler.addTask(HANDLER_B, 3000, packets(DEVICE_B, KIND_DEVICE, 3), new HandlerTask(scheduler), false);
  scheduler.addTask(DEVICE_A, 4000, null, new DeviceTask(scheduler), false);
  scheduler.addTask(DEVICE_B, 5000, null, new DeviceTask(scheduler), false);
  scheduler.schedule();
  result = scheduler.queued + " " + scheduler.held;
}
print(result);
