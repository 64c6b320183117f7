import { callSafely } from "@workqueue/core/internal";
import { type Act, type Audit as Acts, WRONG_TOKEN } from "../api.ts";
import type { DashboardOptions, SteerEvent } from "../contract.ts";
import { logFailure } from "../http/failure_log.ts";
import { cut } from "../watch/texts.ts";

/** Number of acts to keep. */
const MAX_ACTS = 200;

/** Time for which requests with a wrong token are counted in one row, in milliseconds. */
const ROW_LASTS = 60_000;

/** Latest acts of users who control queues, and counts of wrong tokens. Passes each act to `onSteer`. */
export class Audit {
  readonly #onSteer: DashboardOptions["onSteer"];
  readonly #acts: Act[] = [];
  /** Requests with a wrong token since the row for them began, and that time. */
  #wrongTokens = { count: 0, since: -Infinity };
  /** Number of changes to the list so far. */
  count = 0;

  constructor(onSteer: DashboardOptions["onSteer"]) {
    this.#onSteer = onSteer;
  }

  add(event: SteerEvent): void {
    const { by } = event;
    this.#list({ ...event, by: by && cut(by), body: cut(JSON.stringify(event.body)) });
    if (this.#onSteer !== undefined) callSafely(this.#onSteer, (error) => logFailure("call 'onSteer'", error), event);
  }

  /** Counts a request with a wrong token: in the row of the last minute, or in a new row. */
  addWrongToken(): void {
    const time = Date.now();
    const { since } = this.#wrongTokens;
    const isNew = !(time >= since && time < since + ROW_LASTS); // the clock may have been set back
    const count = isNew ? 1 : this.#wrongTokens.count + 1;
    this.#wrongTokens = { count, since: isNew ? time : since };
    if (!isNew) this.#acts.splice(this.#acts.findIndex(({ action }) => action === WRONG_TOKEN), 1);
    const message = `${count} ${count === 1 ? "request" : "requests"} with a wrong token within a minute`;
    this.#list({ time, by: null, queue: null, action: WRONG_TOKEN, body: "{}", message, isError: true });
  }

  #list(act: Act): void {
    this.count++;
    this.#acts.unshift(act);
    this.#acts.length = Math.min(this.#acts.length, MAX_ACTS);
  }

  list(): Acts {
    return { acts: this.#acts };
  }
}
