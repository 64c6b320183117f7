/** Worker of the demo: processes two photos at a time. Some photos fail at first. SIGTERM drains the worker. */

import { runWorkers } from "@workqueue/core";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { type Event, openMine } from "./photos.ts";

const FAILING = ["photo-04", "photo-13"];

function tell(event: Event): void {
  console.log(JSON.stringify(event));
}

const queue = openMine();
runWorkers(queue, async (photo, { attempt, signal }) => {
  tell({ kind: "takes", photo, attempt });
  await delay(500, undefined, { signal }); // the work
  if (attempt === 1 && FAILING.includes(photo)) throw new Error("the disk was busy");
  tell({ kind: "done", photo });
}, {
  concurrency: 2,
  onError: (error, photo) => tell({ kind: "failed", photo, error: (error as Error).message }),
});
process.once("SIGTERM", () => queue.shutDownWithDrain());
