import { type Clock, loadConfig } from "@workqueue/core";

/** Stands still: what is printed does not depend on how fast this runs. */
const clock: Clock = { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} };

/** Prints what each limiter of a config makes an item wait that fails again and again, and what the queues say. */
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
