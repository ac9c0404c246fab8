// Runs in each isolate of actors, before any guest code: keeps the states by slot and the versions of the behaviour, and calls them.
// The host calls these functions and no others; what they throw ends the actor.
({ id, log, reply, send, stop }) => {
  const text = (value) => JSON.stringify(value) ?? 'null';
  // The context that behaviours are given.
  const actor = harden({
    get id() { return id(); },
    // A line for the tree.
    log: (line) => log(`${line}`),
    // The answer to an ask; a message that nobody waits for has none to give.
    reply: (value) => reply(text(value)),
    // Whether the message lies in a mailbox.
    send: (to, message) => send(`${to}`, text(message)),
    // Ends the actor in order after this message.
    stop: () => stop(),
  });
  // About how many bytes a state holds, counted by what can be seen of it; no guest code runs but that of proxies.
  const objects = 1_000_000;
  const cell = 64;
  const size = (state) => {
    const seen = new Set();
    const waiting = [state];
    let bytes = 0;
    while (waiting.length > 0 && seen.size < objects) {
      const value = waiting.pop();
      if (typeof value === 'string') bytes += cell + value.length;
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
      seen.add(value);
      bytes += cell;
      if (ArrayBuffer.isView(value)) {
        waiting.push(value.buffer);
      } else if (value instanceof ArrayBuffer) {
        bytes += value.byteLength;
      } else if (Array.isArray(value)) {
        bytes += 8 * value.length;
        const looked = Math.min(value.length, objects);
        for (let index = 0; index < looked; index++) waiting.push(Reflect.getOwnPropertyDescriptor(value, index)?.value);
      } else {
        if (value instanceof Map) for (const [key, held] of value) waiting.push(key, held);
        if (value instanceof Set) for (const held of value) waiting.push(held);
        for (const key of Reflect.ownKeys(value)) {
          bytes += 16;
          waiting.push(Reflect.getOwnPropertyDescriptor(value, key)?.value);
        }
      }
    }
    return bytes;
  };
  const versions = [];
  const states = [];
  const made = (state) => {
    if (state instanceof Promise) throw new TypeError('a behaviour must not be async: a state is needed at once');
    return state;
  };
  return {
    define(behaviour) {
      if (typeof behaviour !== 'object' || behaviour === null || typeof behaviour.receive !== 'function')
        throw new TypeError('a behaviour is an object with a function receive(state, message, actor)');
      for (const name of ['init', 'migrate'])
        if (behaviour[name] !== undefined && typeof behaviour[name] !== 'function')
          throw new TypeError(`${name} of a behaviour must be a function`);
      return versions.push(behaviour);
    },
    start(slot, version, text) {
      const behaviour = versions[version - 1];
      const argument = JSON.parse(text);
      states[slot] = made(behaviour.init === undefined ? argument : behaviour.init(argument, actor));
    },
    receive(slot, version, text) {
      const next = made(versions[version - 1].receive(states[slot], JSON.parse(text), actor));
      if (next !== undefined) states[slot] = next;
    },
    migrate(slot, version, from) {
      const behaviour = versions[version - 1];
      if (behaviour.migrate !== undefined) states[slot] = made(behaviour.migrate(states[slot], from));
    },
    drop(slot) {
      states[slot] = undefined;
    },
    largest() {
      let [which, most] = [-1, 0];
      for (let slot = 0; slot < states.length; slot++) {
        const bytes = size(states[slot]);
        if (bytes > most) [which, most] = [slot, bytes];
      }
      return `${which} ${most}`;
    },
  };
}
