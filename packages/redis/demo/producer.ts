/** The demo's producer: adds photos, each of them twice, and ends. */

import { setTimeout as delay } from "node:timers/promises";
import { openMine } from "./photos.ts";

const COUNT = 18;

await using queue = openMine();
for (let i = 1; i <= COUNT; i++) {
  const photo = `photo-${String(i).padStart(2, "0")}`;
  await queue.addAll([photo, photo]); // the same item: one of them is folded
  await delay(20);
}
