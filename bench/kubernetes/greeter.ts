/** Controller that copies config maps with the label `greet=yes` to secrets, and notes it in an annotation. */

import { keyOf, type KubeObject, Manager } from "@workqueue/kubernetes";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import process from "node:process";

const STATUS = "example.dev/greet-status";

interface WithData extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const { PORT, LEASE, COUNTS } = process.env;
const lease = LEASE ? { name: LEASE, namespace: "default" } : undefined;
const manager = new Manager({ name: "greeter", port: Number(PORT), ...lease && { lease } });
const configMaps = manager.cache<WithData>("v1", "ConfigMap", { labelSelector: "greet=yes" });
const secrets = manager.cache<WithData>("v1", "Secret", { labelSelector: "greet=yes" });

manager.control(configMaps, {
  owns: [secrets],
  finalizer: "example.dev/greet",
  concurrency: 5,
  cleanup: (configMap) => secrets.delete(keyOf(configMap)),
  async reconcile(configMap) {
    const { metadata: { namespace, name, annotations }, data: texts = {} } = configMap;
    const entries = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    const data = Object.fromEntries(entries);
    await secrets.apply({ metadata: { namespace, name, labels: { greet: "yes" } }, data }, { owner: configMap });
    const status = `copied ${createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16)}`;
    if (annotations?.[STATUS] !== status) {
      await configMaps.patch(configMap, { metadata: { annotations: { [STATUS]: status } } });
    }
    if (COUNTS) console.log('{"event":"end"}'); // the benchmark counts attempts
    return { requeueAfter: "30s" };
  },
});
await manager.run();
