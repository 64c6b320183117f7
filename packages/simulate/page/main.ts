/**
 * Page that simulates a config under a load while both are being edited. A worker runs the simulation, and the page
 * shows the result.
 */

import { CONFIG, LOAD } from "./example.ts";
import type { Reply, Shown, Texts } from "./messages.ts";

/** Time from the last change of a text until the simulation starts, in milliseconds. */
const DELAY = 300;
/** Script of the worker, beside the page. */
const WORKER = "simulation.js";

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const [config, load] = [element<HTMLTextAreaElement>("config"), element<HTMLTextAreaElement>("load")];
const [error, status] = [element("error"), element("status")];

/** Worker of the simulation that is running. */
let worker: Worker | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function restore(): void {
  try {
    const shared = JSON.parse(decodeURIComponent(location.hash.slice(1))) as Partial<Texts>;
    [config.value, load.value] = [shared.config ?? CONFIG, shared.load ?? LOAD];
  } catch {
    [config.value, load.value] = [CONFIG, LOAD];
  }
}

/** Simulates the texts of the page, instead of those that are being simulated. */
function run(): void {
  worker?.terminate();
  const started = worker = new Worker(WORKER, { type: "module" });
  status.textContent = "Simulating …";
  const end = (reply: Reply) => {
    if (started !== worker) return;
    worker.terminate();
    worker = undefined;
    status.textContent = "";
    if ("error" in reply) {
      error.textContent = reply.error;
      return;
    }
    error.textContent = "";
    show(reply);
  };
  started.addEventListener("message", ({ data }: MessageEvent<Reply>) => end(data));
  started.addEventListener("error", ({ message = `cannot load '${WORKER}'` }) => {
    end({ error: `Cannot simulate: ${message}` });
  });
  started.postMessage({ config: config.value, load: load.value } satisfies Texts);
}

function show({ facts, picture, failing, delays, order, report }: Shown): void {
  list("facts", facts);
  element("picture").innerHTML = picture;
  element("failing").textContent = failing;
  list("delays", delays);
  list("order", order);
  element("report").textContent = report;
}

function list(id: string, texts: readonly string[]): void {
  element(id).replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

function onInput(): void {
  element("shared").textContent = ""; // the address no longer contains the texts
  clearTimeout(timer);
  timer = setTimeout(run, DELAY);
}

element("share").addEventListener("click", async () => {
  const texts = encodeURIComponent(JSON.stringify({ config: config.value, load: load.value } satisfies Texts));
  history.replaceState(null, "", `#${texts}`); // causes no `hashchange`, so nothing is simulated again
  const isCopied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  const where = isCopied ? "Copied." : "Copy it from the address bar.";
  element("shared").textContent = `The address contains the config and the load. ${where}`;
});
for (const text of [config, load]) text.addEventListener("input", onInput);
addEventListener("hashchange", () => {
  restore();
  run();
});
restore();
run();
