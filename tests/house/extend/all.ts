import { discipline } from "./discipline.ts";
import { limiter } from "./limiter.ts";
import type { Recipe } from "./recipe.ts";
import { snapshotField } from "./snapshot_field.ts";
import { throttle } from "./throttle.ts";
import { workerOption } from "./worker_option.ts";

/** Recipes that the tests follow. */
export const recipes: readonly Recipe[] = [limiter, discipline, throttle, workerOption, snapshotField];
