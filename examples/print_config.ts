import { type Clock, loadConfig } from "@workqueue/core";

/** Clock that never advances, so that the output does not depend on the speed of the machine. */
const clock: Clock = { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} };

/**
 * Prints, for each limiter of a config, the delays of an item that keeps failing. Also prints the options of each
 * queue.
 */
export function printConfig(format: string, document: string | object): void {
  const config = loadConfig(document, { clock });
  for (const name of config.limiterNames) {
    const limiter = config.limiter<string>(name);
    const delays = Array.from({ length: 20 }, () => limiter.when(`an item of ${name}`));
    console.log(`${format}: limiter ${name}: ${delays.join(" ")}`);
  }
  for (const name of config.queueNames) {
    console.log(`${format}: queue ${name}: ${JSON.stringify(config.workers(name))}`);
  }
}
