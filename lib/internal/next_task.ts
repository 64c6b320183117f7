/**
 * Calls back in a task of its own: after the timers and the I/O that are due now have had their turn.
 *
 * A message is as quick as it gets on every runtime, where a timer of zero waits a millisecond or more; and
 * fake timers leave it alone.
 */
export function nextTask(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(undefined);
}
