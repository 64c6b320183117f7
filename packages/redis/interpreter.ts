import type { Interpreter } from "@workqueue/engine";
import { PRODUCT } from "./product.ts";
import { ORDERS } from "./scripts/kinds.ts";

/** Parts of configs that this engine evaluates. */
export const REDIS: Interpreter = { product: PRODUCT, orders: ORDERS };
