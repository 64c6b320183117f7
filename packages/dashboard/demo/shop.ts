import { setTimeout as sleep } from "node:timers/promises";

/** Something that is to be done again and again, and how it goes wrong. */
export interface Work {
  /** The items that have changed since it was asked last, a tenth of a second ago. */
  changes(): string[];
  handle(item: string, signal: AbortSignal): Promise<void>;
}

let orders = 1000;
const next = (tenant: string) => `${tenant}/${orders++}`;

/** Whether something happens that happens so often a second, asked each tenth of one. */
const happens = (perSecond: number) => Math.random() < perSecond / 10;

/** The gateway is down from the beginning: half of the time, for a minute each. */
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

/** One tenant has far more than the others, which wait behind it. */
export function thumbnails(): Work {
  return {
    changes: () => [...Array.from({ length: 5 }, () => next("globex")), ...happens(2) ? [next("acme")] : []],
    handle: (_image, signal) => sleep(150, undefined, { signal }),
  };
}

/** One item fails whenever it is tried. */
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

/** All is well. */
export function mails(): Work {
  return {
    changes: () => happens(10) ? [next("acme")] : [],
    handle: (_mail, signal) => sleep(60, undefined, { signal }),
  };
}
