// Bundles for browsers expect this; node does not have it.
if (!globalThis.self) globalThis.self = globalThis;
