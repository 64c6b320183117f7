/**
 * Runs the command's demo in a terminal and records it, for the picture in the README. The recording takes ten seconds
 * and requires the `script` command from util-linux.
 *
 *     npx -y deno task recording
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { animate } from "./animation.ts";
import { capture } from "./capture.ts";
import { framesOf } from "./frames.ts";

const SIZE = { columns: 80, rows: 16 };
const WORDS = {
  title: "workqueue run on a terminal",
  description:
    "Forty webhooks are delivered to four services. One service is down, and answers 503: its ten fail, and are " +
    "retried after ever longer delays while the others are delivered. When it is back they are delivered too. " +
    "The summary says that 40 succeeded after 40 retries, and that 8 duplicates were folded.",
};

process.chdir(fileURLToPath(new URL("../../", import.meta.url)));
const frames = await framesOf(await capture(`'${process.execPath}' run -A packages/cli/demo.ts`, SIZE));
const picture = animate(frames, SIZE, WORDS);
writeFileSync("docs/demo.svg", picture);
console.log(`docs/demo.svg: ${frames.length} frames, ${Math.ceil(picture.length / 1000)} kB`);
