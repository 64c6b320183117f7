/** Benchmarks of the limiters. */

import { limiterCases } from "./cases/limiters.ts";
import { register } from "./register.ts";

register(limiterCases);
