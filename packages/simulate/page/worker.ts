/** Web worker of the page: simulates once, for the texts in the first message, so that the page never stalls. */

import { argumentError } from "@workqueue/core/internal";
import { type LoadDocument, simulate, svgOf, textOf } from "@workqueue/simulate";
import { parse } from "yaml";
import { loadOf, readLoadOptions } from "../load/load.ts";
import { formatTime } from "../report/format.ts";
import type { Reply, Shown, Texts } from "./messages.ts";
import { previewOf } from "./preview.ts";

/** Characters in a line of the report. */
const WIDTH = 90;

async function show(texts: Texts): Promise<Shown> {
  const [config, load] = [read("config", texts), read("load", texts) as LoadDocument];
  const report = await simulate(config, load);
  const { key, delays, served } = await previewOf(config, report.queue, loadOf(readLoadOptions(load)), report.seed);
  return {
    facts: report.facts,
    picture: svgOf(report),
    failing: key,
    delays: delays.map(formatTime),
    order: served.map((item) => item.priority === 0 ? item.key : `${item.key}, priority ${item.priority}`),
    report: textOf(report, WIDTH),
  };
}

/** Parses a text that must be an object. */
function read(name: keyof Texts, texts: Texts): object {
  const document: unknown = parse(texts[name]);
  if (typeof document === "object" && document !== null && !Array.isArray(document)) return document;
  throw argumentError("simulate", `the ${name} must be an object of options, such as 'name: value' on each line`);
}

addEventListener("message", async ({ data }: MessageEvent<Texts>) => {
  const reply: Reply = await show(data).catch((thrown: Error) => ({ error: thrown.message }));
  postMessage(reply);
}, { once: true });
