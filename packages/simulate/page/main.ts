/** Page that simulates a config under a load while both are being edited. */

import { argumentError } from "@workqueue/core/internal";
import { type LoadDocument, simulate, svgOf, textOf } from "@workqueue/simulate";
import { parse } from "yaml";
import { loadOf, readLoadOptions } from "../load/load.ts";
import { formatTime } from "../report/format.ts";
import { CONFIG, LOAD } from "./example.ts";
import { type Preview, previewOf } from "./preview.ts";

/** Time from the last change of a text until the simulation starts, in milliseconds. */
const DELAY = 300;
const WIDTH = 90;

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const [config, load] = [element<HTMLTextAreaElement>("config"), element<HTMLTextAreaElement>("load")];
const [error, facts, picture, report, status] = ["error", "facts", "picture", "report", "status"].map(element);
const [delays, order] = ["delays", "order"].map(element);

/** Number of the latest simulation. The results of earlier ones are not shown. */
let latest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

function restore(): void {
  try {
    const shared = JSON.parse(decodeURIComponent(location.hash.slice(1))) as { config?: string; load?: string };
    [config.value, load.value] = [shared.config ?? CONFIG, shared.load ?? LOAD];
  } catch {
    [config.value, load.value] = [CONFIG, LOAD];
  }
}

async function run(): Promise<void> {
  const number = ++latest;
  try {
    status!.textContent = "Simulating …";
    const [document, loaded] = [read("config", config), read("load", load) as LoadDocument];
    const result = await simulate(document, loaded);
    const preview = await previewOf(document, result.queue, loadOf(readLoadOptions(loaded)), result.seed);
    if (number !== latest) return;
    error!.textContent = "";
    list(facts!, result.facts);
    picture!.innerHTML = svgOf(result);
    showPreview(preview);
    report!.textContent = textOf(result, WIDTH);
  } catch (thrown) {
    if (number === latest) error!.textContent = (thrown as Error).message;
  }
  if (number === latest) status!.textContent = "";
}

/** Parses a text that must be an object. */
function read(name: string, { value }: HTMLTextAreaElement): object {
  const document: unknown = parse(value);
  if (typeof document === "object" && document !== null && !Array.isArray(document)) return document;
  throw argumentError("simulate", `the ${name} must be an object of options, such as 'name: value' on each line`);
}

function list(parent: HTMLElement, texts: readonly string[]): void {
  parent.replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

function showPreview({ key, delays: times, served }: Preview): void {
  element("failing").textContent = key;
  list(delays!, times.map(formatTime));
  list(order!, served.map((item) => item.priority === 0 ? item.key : `${item.key}, priority ${item.priority}`));
}

function onInput(): void {
  clearTimeout(timer);
  timer = setTimeout(run, DELAY);
}

element("share").addEventListener("click", async () => {
  const texts = encodeURIComponent(JSON.stringify({ config: config.value, load: load.value }));
  history.replaceState(null, "", `#${texts}`); // causes no `hashchange`, so nothing is simulated again
  const isCopied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  const where = isCopied ? "Copied." : "Copy it from the address bar.";
  status!.textContent = `The address contains the config and the load. ${where}`;
});
for (const text of [config, load]) text.addEventListener("input", onInput);
addEventListener("hashchange", () => {
  restore();
  void run();
});
restore();
void run();
