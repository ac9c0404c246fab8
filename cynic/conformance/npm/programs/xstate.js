import { createMachine, createActor, assign } from "xstate";
const machine = createMachine({ id: "door", initial: "closed", context: { opened: 0 }, states: {
  closed: { on: { OPEN: { target: "open", guard: ({ context }) => context.opened < 2, actions: assign({ opened: ({ context }) => context.opened + 1 }) }, LOCK: "locked" } },
  open: { initial: "still", on: { CLOSE: "closed" }, states: { still: { on: { PUSH: "moving" } }, moving: { always: "still" } } },
  locked: { type: "final" } } });
const actor = createActor(machine), seen = [];
actor.subscribe((s) => seen.push(JSON.stringify(s.value) + s.context.opened));
actor.start();
for (const type of ["OPEN", "PUSH", "CLOSE", "OPEN", "CLOSE", "OPEN", "LOCK"]) actor.send({ type });
console.log(seen, actor.getSnapshot().status);
