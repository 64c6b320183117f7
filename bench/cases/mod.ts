/**
 * Cases that measure this queue alone. `deno bench` and `bench/run.ts` run the same list.
 *
 * @module
 */

import type { Groups } from "./case.ts";
import { delayingQueueCases } from "./delaying_queue.ts";
import { limiterCases } from "./limiters.ts";
import { workQueueCases } from "./work_queue.ts";
import { workerCases } from "./workers.ts";

/** All cases. */
export const cases: Groups = { ...workQueueCases, ...delayingQueueCases, ...limiterCases, ...workerCases };
