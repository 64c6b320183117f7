import { setTimeout as sleep } from "node:timers/promises";

/** Simulated work and its failures. */
export interface Work {
  /** Returns the items that have changed in the tenth of a second since the previous call. */
  changes(): string[];
  handle(item: string, signal: AbortSignal): Promise<void>;
}

let orders = 1000;
const next = (tenant: string) => `${tenant}/${orders++}`;

/**
 * Decides at random whether an event with the given rate per second happens now. Call this function every tenth of a
 * second.
 */
const happens = (perSecond: number) => Math.random() < perSecond / 10;

/** Creates work that depends on a gateway. The gateway is down every other minute, starting with the first. */
export function payments(): Work {
  const startedAt = performance.now();
  const isDown = () => Math.floor((performance.now() - startedAt) / 60_000) % 2 === 0;
  return {
    changes: () => [...happens(4) ? [next("acme")] : [], ...happens(4) ? [next("globex")] : []],
    async handle(_order, signal) {
      await sleep(isDown() ? 300 : 80, undefined, { signal });
      if (isDown()) throw new Error("503 the payment gateway is down");
    },
  };
}

/** Creates work in which one tenant adds far more items than the others and slows them down. */
export function thumbnails(): Work {
  return {
    changes: () => [...Array.from({ length: 5 }, () => next("globex")), ...happens(2) ? [next("acme")] : []],
    handle: (_image, signal) => sleep(150, undefined, { signal }),
  };
}

/** Creates work with one item that always fails. */
export function invoices(): Work {
  let isFirst = true;
  return {
    changes() {
      const items = isFirst ? ["initech/1042"] : happens(5) ? [next("initech")] : [];
      isFirst = false;
      return items;
    },
    async handle(invoice, signal) {
      await sleep(100, undefined, { signal });
      if (invoice === "initech/1042") throw new TypeError("Cannot read properties of undefined (reading 'address')");
    },
  };
}

/** Creates work without failures. */
export function mails(): Work {
  return {
    changes: () => happens(10) ? [next("acme")] : [],
    handle: (_mail, signal) => sleep(60, undefined, { signal }),
  };
}
