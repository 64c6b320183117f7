import { callSafely } from "@workqueue/core/internal";
import type { Act, Audit as Acts } from "../api.ts";
import type { DashboardOptions, SteerEvent } from "../contract.ts";
import { logFailure } from "../http/failure_log.ts";
import { cut } from "../watch/texts.ts";

/** Number of acts to keep. */
const MAX_ACTS = 200;

/** Latest acts of users who control queues. Passes each act to `onSteer`. */
export class Audit {
  readonly #onSteer: DashboardOptions["onSteer"];
  readonly #acts: Act[] = [];
  /** Number of acts so far. */
  count = 0;

  constructor(onSteer: DashboardOptions["onSteer"]) {
    this.#onSteer = onSteer;
  }

  add(event: SteerEvent): void {
    this.count++;
    const { by } = event;
    this.#acts.unshift({ ...event, by: by && cut(by), body: cut(JSON.stringify(event.body)) });
    this.#acts.length = Math.min(this.#acts.length, MAX_ACTS);
    if (this.#onSteer !== undefined) callSafely(this.#onSteer, (error) => logFailure("call 'onSteer'", error), event);
  }

  list(): Acts {
    return { acts: this.#acts };
  }
}
