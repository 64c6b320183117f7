/** Benchmarks of `runWorkers`. */

import { workerCases } from "./cases/workers.ts";
import { register } from "./register.ts";

register(workerCases);
