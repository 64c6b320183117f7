/** Benchmarks of layer 2, the delaying queue, and its heap. */

import { delayingQueueCases } from "./cases/delaying_queue.ts";
import { register } from "./register.ts";

register(delayingQueueCases);
