/**
 * The runtime's own global, saved when this module is loaded. Fake timers that are installed later don't replace the
 * saved global.
 */
const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };

/** Resolves in a task of its own, after all promise callbacks that are pending now. */
export const nextTask: () => Promise<void> = setImmediate === undefined
  ? nextMessage()
  : () => new Promise((resolve) => void setImmediate(resolve));

/** Starts tasks with messages, because browsers have no `setImmediate`. */
function nextMessage(): () => Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()!();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(undefined);
    });
}
