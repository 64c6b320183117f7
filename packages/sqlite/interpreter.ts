import type { Interpreter } from "@workqueue/engine";
import { PRODUCT } from "./product.ts";
import { ORDERS } from "./store/orders.ts";

/** Parts of configs that this engine evaluates. */
export const SQLITE: Interpreter = { product: PRODUCT, orders: ORDERS };
