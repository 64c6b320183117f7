/** Page that simulates a config under a load while both are being edited. */

import { type LoadDocument, simulate, svgOf, textOf } from "@workqueue/simulate";
import { parse } from "yaml";
import { CONFIG, LOAD } from "./example.ts";

/** Time from the last change of a text until the simulation starts, in milliseconds. */
const DELAY = 300;
const WIDTH = 90;

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const [config, load] = [element<HTMLTextAreaElement>("config"), element<HTMLTextAreaElement>("load")];
const [error, facts, picture, report, status] = ["error", "facts", "picture", "report", "status"].map(element);

/** Number of the latest simulation. The results of earlier ones are not shown. */
let latest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

function restore(): void {
  try {
    const shared = JSON.parse(decodeURIComponent(location.hash.slice(1))) as { config: string; load: string };
    [config.value, load.value] = [String(shared.config), String(shared.load)];
  } catch {
    [config.value, load.value] = [CONFIG, LOAD];
  }
}

async function run(): Promise<void> {
  const number = ++latest;
  try {
    status!.textContent = "Simulating …";
    const result = await simulate(parse(config.value) as object, parse(load.value) as LoadDocument);
    if (number !== latest) return;
    error!.textContent = "";
    facts!.replaceChildren(...result.facts.map((fact) => {
      const item = document.createElement("li");
      item.textContent = fact;
      return item;
    }));
    picture!.innerHTML = svgOf(result);
    report!.textContent = textOf(result, WIDTH);
  } catch (thrown) {
    if (number === latest) error!.textContent = (thrown as Error).message;
  }
  if (number === latest) status!.textContent = "";
}

function onInput(): void {
  clearTimeout(timer);
  timer = setTimeout(run, DELAY);
}

element("share").addEventListener("click", async () => {
  location.hash = encodeURIComponent(JSON.stringify({ config: config.value, load: load.value }));
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  status!.textContent = "The address contains the config and the load.";
});
for (const text of [config, load]) text.addEventListener("input", onInput);
addEventListener("hashchange", () => {
  restore();
  void run();
});
restore();
void run();
