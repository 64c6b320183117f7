import { loadDocumentFile, readConfigFile } from "@workqueue/config-file";
import { type LoadDocument, simulate, svgOf } from "@workqueue/simulate";

/** Returns the image of the example's outage, drawn like the images of `workqueue simulate`. */
export async function plotSimulation(): Promise<string> {
  const load = loadDocumentFile(pathOf("outage.yaml"), "load document", (document) => document as LoadDocument);
  return svgOf(await simulate(readConfigFile(pathOf("workqueue.yaml")), load));
}

function pathOf(example: string): URL {
  return new URL(`../../examples/${example}`, import.meta.url);
}
