/** Benchmarks of layer 1, the work queue. */

import { workQueueCases } from "./cases/work_queue.ts";
import { register } from "./register.ts";

register(workQueueCases);
