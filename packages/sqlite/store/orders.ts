import { entryOf, type OrderKind, type OrderPlan } from "@workqueue/engine";
import { PRODUCT } from "../product.ts";
import { FairOrder } from "./fair_order.ts";
import { LineOrder } from "./line_order.ts";
import type { Order } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/** Function that creates the order for a plan. */
type NewOrder<Plan> = (tx: Transaction, plan: Plan) => Order;

/** Orders that this engine evaluates, by kind. */
export const ORDERS: { readonly [Kind in OrderKind]: NewOrder<Extract<OrderPlan, readonly [Kind, ...unknown[]]>> } = {
  fifo: (tx, plan) => new LineOrder(tx, plan),
  aging: (tx, plan) => new LineOrder(tx, plan),
  strict: (tx, plan) => new LineOrder(tx, plan),
  fair: (tx, plan) => new FairOrder(tx, plan),
};

/**
 * Creates an order from the JSON text of its plan.
 *
 * @throws {TypeError} If this release doesn't know the order. A process of a later release may have stored it.
 */
export function newOrder(tx: Transaction, text: string): Order {
  const plan = JSON.parse(text) as OrderPlan;
  return (entryOf(ORDERS, PRODUCT, "discipline", plan[0]) as NewOrder<OrderPlan>)(tx, plan);
}
