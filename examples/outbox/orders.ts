/**
 * Stores orders. Each order and its row of the outbox are written in one transaction, so there is never one without the
 * other, and the service doesn't need Redis to take an order.
 *
 * ```sh
 * npx -y deno run -A examples/outbox/orders.ts shop.db 100
 * ```
 *
 * @module
 */

import process from "node:process";
import { open } from "./outbox.ts";

const [path = "shop.db", count = "100", name = "order"] = process.argv.slice(2);
const database = open(path);
const order = database.prepare("INSERT INTO orders (id) VALUES (?)");
const event = database.prepare("INSERT INTO outbox (item) VALUES (?)");
for (let i = 1; i <= Number(count); i++) {
  database.exec("BEGIN IMMEDIATE");
  order.run(`${name} ${i}`);
  event.run(`${name} ${i}`);
  database.exec("COMMIT"); // both or neither
}
database.close();
console.log(`stored ${count} orders`);
