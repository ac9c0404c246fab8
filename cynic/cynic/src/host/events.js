// DOMException, Event, CustomEvent, EventTarget, MessageEvent, MessageChannel, MessagePort, AbortSignal, AbortController.
// https://dom.spec.whatwg.org/ and https://html.spec.whatwg.org/multipage/web-messaging.html
//
// Evaluated once per realm, when the first of them is asked for; the host hands in what it takes from the isolate. What differs from a
// browser: there is no tree, so an event has one target; ports are not transferred, they belong to one realm.
({ clone, now, report, setTimer, postTask }) => {
  const codes = {
    IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5, NoModificationAllowedError: 7,
    NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10, InvalidStateError: 11, SyntaxError: 12,
    InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18,
    NetworkError: 19, AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24,
    DataCloneError: 25,
  };
  const legacy = ["INDEX_SIZE_ERR", "DOMSTRING_SIZE_ERR", "HIERARCHY_REQUEST_ERR", "WRONG_DOCUMENT_ERR", "INVALID_CHARACTER_ERR",
    "NO_DATA_ALLOWED_ERR", "NO_MODIFICATION_ALLOWED_ERR", "NOT_FOUND_ERR", "NOT_SUPPORTED_ERR", "INUSE_ATTRIBUTE_ERR",
    "INVALID_STATE_ERR", "SYNTAX_ERR", "INVALID_MODIFICATION_ERR", "NAMESPACE_ERR", "INVALID_ACCESS_ERR", "VALIDATION_ERR",
    "TYPE_MISMATCH_ERR", "SECURITY_ERR", "NETWORK_ERR", "ABORT_ERR", "URL_MISMATCH_ERR", "QUOTA_EXCEEDED_ERR", "TIMEOUT_ERR",
    "INVALID_NODE_TYPE_ERR", "DATA_CLONE_ERR"];
  const tag = (constructor, name) =>
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
  const constants = (object, values) => {
    for (const name of Object.keys(values)) Object.defineProperty(object, name, { value: values[name], enumerable: true });
  };

  class DOMException extends Error {
    #name;
    constructor(message = "", options = "Error") {
      const isObject = typeof options === "object" && options !== null;
      super(String(message), isObject && "cause" in options ? { cause: options.cause } : undefined);
      this.#name = String(isObject ? (options.name ?? "Error") : options);
      // An Error wrote its own name at the head of the stack.
      const stack = this.stack;
      if (typeof stack === "string" && stack.startsWith("Error")) {
        Object.defineProperty(this, "stack", { value: this.#name + stack.slice(5), writable: true, configurable: true });
      }
    }
    get name() { return this.#name; }
    get code() { return Object.hasOwn(codes, this.#name) ? codes[this.#name] : 0; }
  }
  tag(DOMException, "DOMException");
  const legacyCodes = Object.fromEntries(legacy.map((name, index) => [name, index + 1]));
  constants(DOMException, legacyCodes);
  constants(DOMException.prototype, legacyCodes);

  const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };
  // The host's side of an event, which programs cannot reach.
  let stateOf;
  class Event {
    #state;
    constructor(type, init) {
      if (arguments.length === 0) throw new TypeError("Event needs a type");
      const { bubbles = false, cancelable = false, composed = false } = init ?? {};
      this.#state = {
        type: String(type), bubbles: Boolean(bubbles), cancelable: Boolean(cancelable), composed: Boolean(composed), target: null,
        currentTarget: null, phase: 0, stopped: false, stoppedNow: false, canceled: false, passive: false, dispatching: false,
        time: now(), trusted: false,
      };
    }
    static { stateOf = (event) => event.#state; }
    get type() { return this.#state.type; }
    get bubbles() { return this.#state.bubbles; }
    get cancelable() { return this.#state.cancelable; }
    get composed() { return this.#state.composed; }
    get target() { return this.#state.target; }
    get srcElement() { return this.#state.target; }
    get currentTarget() { return this.#state.currentTarget; }
    get eventPhase() { return this.#state.phase; }
    get timeStamp() { return this.#state.time; }
    get isTrusted() { return this.#state.trusted; }
    get defaultPrevented() { return this.#state.canceled; }
    get returnValue() { return !this.#state.canceled; }
    set returnValue(value) { if (!value) this.preventDefault(); }
    get cancelBubble() { return this.#state.stopped; }
    set cancelBubble(value) { if (value) this.#state.stopped = true; }
    composedPath() { return this.#state.currentTarget === null ? [] : [this.#state.currentTarget]; }
    stopPropagation() { this.#state.stopped = true; }
    stopImmediatePropagation() { this.#state.stopped = this.#state.stoppedNow = true; }
    preventDefault() { if (this.#state.cancelable && !this.#state.passive) this.#state.canceled = true; }
  }
  tag(Event, "Event");
  constants(Event, PHASES);
  constants(Event.prototype, PHASES);

  class CustomEvent extends Event {
    #detail;
    constructor(type, init) {
      super(...arguments);
      this.#detail = init?.detail ?? null;
    }
    get detail() { return this.#detail; }
  }
  tag(CustomEvent, "CustomEvent");

  class MessageEvent extends Event {
    #init;
    constructor(type, init) {
      super(...arguments);
      const { data = null, origin = "", lastEventId = "", source = null, ports = [] } = init ?? {};
      this.#init = { data, origin: String(origin), lastEventId: String(lastEventId), source, ports: Object.freeze([...ports]) };
    }
    get data() { return this.#init.data; }
    get origin() { return this.#init.origin; }
    get lastEventId() { return this.#init.lastEventId; }
    get source() { return this.#init.source; }
    get ports() { return this.#init.ports; }
  }
  tag(MessageEvent, "MessageEvent");

  const trusted = (event) => { stateOf(event).trusted = true; return event; };

  class EventTarget {
    #listeners = new Map();
    addEventListener(type, callback, options) {
      const listeners = this.#listeners;
      if (arguments.length < 2) throw new TypeError("addEventListener needs a type and a listener");
      const isObject = typeof options === "object" && options !== null;
      const { capture = false, once = false, passive = false, signal } = isObject ? options : { capture: options };
      if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError("the signal must be an AbortSignal");
      if (callback === null || callback === undefined || signal?.aborted) return;
      if (typeof callback !== "function" && typeof callback !== "object") throw new TypeError("a listener must be a function or an object");
      type = String(type);
      const list = listeners.get(type) ?? [];
      if (list.some((known) => known.callback === callback && known.capture === Boolean(capture))) return;
      // A new list each time: a dispatch goes through the listeners that there were at its beginning.
      const entry = { callback, capture: Boolean(capture), once: Boolean(once), passive: Boolean(passive), removed: false };
      listeners.set(type, [...list, entry]);
      signal?.addEventListener("abort", () => this.#remove(type, entry), { once: true });
    }
    removeEventListener(type, callback, options) {
      const listeners = this.#listeners;
      const capture = Boolean(typeof options === "object" && options !== null ? options.capture : options);
      const entry = listeners.get(String(type))?.find((known) => known.callback === callback && known.capture === capture);
      if (entry !== undefined) this.#remove(String(type), entry);
    }
    #remove(type, entry) {
      entry.removed = true;
      const left = this.#listeners.get(type)?.filter((known) => known !== entry) ?? [];
      if (left.length === 0) this.#listeners.delete(type);
      else this.#listeners.set(type, left);
    }
    dispatchEvent(event) {
      const listeners = this.#listeners;
      if (!(event instanceof Event)) throw new TypeError("dispatchEvent needs an Event");
      const state = stateOf(event);
      if (state.dispatching) throw new DOMException("the event is being dispatched", "InvalidStateError");
      Object.assign(state, { dispatching: true, target: this, currentTarget: this, phase: 2, stoppedNow: false });
      const found = listeners.get(state.type) ?? [];
      for (const entry of [...found.filter((known) => known.capture), ...found.filter((known) => !known.capture)]) {
        if (entry.removed) continue;
        if (entry.once) this.#remove(state.type, entry);
        state.passive = entry.passive;
        try {
          const { callback } = entry;
          if (typeof callback === "function") callback.call(this, event);
          else callback.handleEvent(event);
        } catch (error) {
          report(error);
        }
        state.passive = false;
        if (state.stoppedNow) break;
      }
      Object.assign(state, { dispatching: false, currentTarget: null, phase: 0, stopped: false, stoppedNow: false });
      return !state.canceled;
    }
  }
  tag(EventTarget, "EventTarget");

  // `onabort` and its kin: a listener that keeps the place of the first that was set.
  const handler = (constructor, type, changed = () => {}) => {
    const handlers = new WeakMap();
    Object.defineProperty(constructor.prototype, `on${type}`, {
      get() { return handlers.get(this)?.callback ?? null; },
      set(callback) {
        callback = typeof callback === "function" ? callback : null;
        const known = handlers.get(this);
        if (known !== undefined) {
          known.callback = callback;
        } else if (callback !== null) {
          const slot = { callback };
          handlers.set(this, slot);
          this.addEventListener(type, (event) => slot.callback?.call(this, event));
        }
        changed(this);
      },
      enumerable: true, configurable: true,
    });
  };

  let isOurs = false;
  let abort, dependents;
  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason;
    #dependents = [];
    constructor() {
      if (!isOurs) throw new TypeError("Illegal constructor");
      super();
    }
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        // All are aborted before any listener hears of it.
        const all = [signal];
        signal.#aborted = true;
        signal.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
        for (const dependent of signal.#dependents) {
          if (dependent.#aborted) continue;
          dependent.#aborted = true;
          dependent.#reason = signal.#reason;
          all.push(dependent);
        }
        signal.#dependents = [];
        for (const one of all) one.dispatchEvent(trusted(new Event("abort")));
      };
      dependents = (signal) => signal.#dependents;
    }
    static abort(reason) {
      const signal = make();
      abort(signal, reason);
      return signal;
    }
    static timeout(milliseconds) {
      const time = Number(milliseconds);
      if (!(time >= 0 && time <= Number.MAX_SAFE_INTEGER)) throw new TypeError("a timeout must be a number of milliseconds");
      const signal = make();
      setTimer(() => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), time);
      return signal;
    }
    static any(signals) {
      const sources = [...signals];
      for (const source of sources) if (!(source instanceof AbortSignal)) throw new TypeError("AbortSignal.any needs AbortSignals");
      const result = make();
      const aborted = sources.find((source) => source.#aborted);
      if (aborted !== undefined) abort(result, aborted.#reason);
      else for (const source of sources) dependents(source).push(result);
      // What depends on a dependent depends on its sources.
      result.#sources = sources.flatMap((source) => (source.#sources.length > 0 ? source.#sources : [source]));
      if (aborted === undefined) for (const source of result.#sources) if (!sources.includes(source)) dependents(source).push(result);
      return result;
    }
    #sources = [];
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
  }
  tag(AbortSignal, "AbortSignal");
  handler(AbortSignal, "abort");
  const make = () => {
    isOurs = true;
    try {
      return new AbortSignal();
    } finally {
      isOurs = false;
    }
  };

  class AbortController {
    #signal = make();
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
  }
  tag(AbortController, "AbortController");

  let isPort = false;
  let entangle, start;
  class MessagePort extends EventTarget {
    #other = null;
    #waiting = [];
    #started = false;
    #closed = false;
    constructor() {
      if (!isPort) throw new TypeError("Illegal constructor");
      super();
    }
    static {
      entangle = (one, two) => {
        one.#other = two;
        two.#other = one;
      };
      start = (port) => port.start();
    }
    postMessage(message, options) {
      const transfer = Array.isArray(options) ? options : options?.transfer;
      const data = clone(message, transfer === undefined ? undefined : { transfer: [...transfer] });
      const other = this.#other;
      if (other === null || this.#closed || other.#closed) return;
      if (other.#started) other.#deliver(data);
      else other.#waiting.push(data);
    }
    #deliver(data) {
      postTask(() => {
        if (!this.#closed) this.dispatchEvent(trusted(new MessageEvent("message", { data })));
      });
    }
    start() {
      if (this.#started) return;
      this.#started = true;
      for (const data of this.#waiting) this.#deliver(data);
      this.#waiting = [];
    }
    close() {
      if (this.#closed) return;
      this.#closed = true;
      const other = this.#other;
      this.#other = null;
      if (other !== null && !other.#closed) postTask(() => { other.#closed = true; other.dispatchEvent(trusted(new Event("close"))); });
    }
  }
  tag(MessagePort, "MessagePort");
  handler(MessagePort, "message", (port) => start(port));
  handler(MessagePort, "messageerror");
  handler(MessagePort, "close");

  class MessageChannel {
    #ports;
    constructor() {
      isPort = true;
      try {
        this.#ports = [new MessagePort(), new MessagePort()];
      } finally {
        isPort = false;
      }
      entangle(...this.#ports);
    }
    get port1() { return this.#ports[0]; }
    get port2() { return this.#ports[1]; }
  }
  tag(MessageChannel, "MessageChannel");

  return {
    AbortController, AbortSignal, CustomEvent, DOMException, Event, EventTarget, MessageChannel, MessageEvent, MessagePort,
  };
}
