/** Producer of the demo: adds each photo twice and exits. */

import { setTimeout as delay } from "node:timers/promises";
import { openMine } from "./photos.ts";

const COUNT = 18;

await using queue = openMine();
for (let i = 1; i <= COUNT; i++) {
  const photo = `photo-${String(i).padStart(2, "0")}`;
  await queue.addAll([photo, photo]); // the same item: the second add changes nothing
  await delay(20);
}
