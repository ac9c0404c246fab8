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
  };
}
