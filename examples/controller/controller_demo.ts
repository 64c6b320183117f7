/**
 * Runs `controller.ts` without a cluster. This process contains an API server with two websites. Another client changes
 * one website just before the controller writes its status. SIGTERM arrives while the controller is writing the status
 * again.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/controller/controller_demo.ts
 * bun examples/controller/controller_demo.ts
 * ```
 *
 * @module
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ApiServer } from "./api_server.ts";

await using server = await ApiServer.start();
server.apply("default", "blog", { host: "blog.example.com" });
server.apply("default", "shop", { host: "shop.example.com" });
let isChanged = false;
server.beforeUpdate = ({ metadata }) => {
  if (metadata.name !== "blog") return;
  if (!isChanged) server.apply("default", "blog", { host: "www.example.com" });
  isChanged = true;
  if (metadata.generation === 2) process.emit("SIGTERM");
};

const folder = mkdtempSync(join(tmpdir(), "controller-"));
try {
  process.env["KUBECONFIG"] = join(folder, "kubeconfig");
  writeFileSync(process.env["KUBECONFIG"], server.kubeconfig);
  await import("./controller.ts");
} finally {
  rmSync(folder, { recursive: true });
}
