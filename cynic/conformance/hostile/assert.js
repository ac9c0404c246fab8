// What every case may use. Loaded before the case; a case that returns without throwing has passed.
function assert(condition, message) {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
function assertEqual(actual, expected, message) {
  if (!Object.is(actual, expected)) throw new Error(`${message}: ${String(actual)} instead of ${String(expected)}`);
}
/** `run` must throw an error of `kind`, which the guest may catch. */
function assertThrows(kind, run, message) {
  try {
    run();
  } catch (error) {
    assert(error instanceof kind, `${message ?? run}: ${error?.name}: ${error?.message}`);
    return error;
  }
  throw new Error(`${message ?? run}: nothing was thrown`);
}
/** `run` may return or throw, whatever it likes; it must come back. A promise may be rejected: that would end the program if nobody listened. */
function survives(run) {
  try {
    const result = run();
    if (result instanceof Promise) result.then(() => {}, () => {});
    return result;
  } catch (error) {
    return error;
  }
}
