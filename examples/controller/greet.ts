/** Copies config maps with the label `greet=yes` to secrets, and notes in an annotation which data it copied. */
import { type KubeObject, Manager } from "@workqueue/kubernetes";
import type { ConfigMap, Secret } from "kubernetes-types/core/v1";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

const STATUS = "example.dev/greet-status";

const manager = new Manager({ name: "greet", lease: { name: "greet", namespace: "default" } });
const configMaps = manager.cache<ConfigMap & KubeObject>("v1", "ConfigMap", { labelSelector: "greet=yes" });
const secrets = manager.cache<Secret & KubeObject>("v1", "Secret", { labelSelector: "greet=yes" });

manager.control(configMaps, {
  owns: [secrets],
  finalizer: "example.dev/greet",
  cleanup: ({ metadata: { namespace, name } }) => secrets.delete(`${namespace}/${name}`),
  async reconcile(configMap) {
    const { namespace, name, annotations } = configMap.metadata;
    const texts = Object.entries(configMap.data ?? {});
    const data = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
    await secrets.apply({ metadata: { namespace, name, labels: { greet: "yes" } }, data }, { owner: configMap });
    const status = `copied ${createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16)}`;
    if (annotations?.[STATUS] !== status) {
      await configMaps.patch(configMap, { metadata: { annotations: { [STATUS]: status } } });
    }
    return { requeueAfter: "30s" };
  },
});

await manager.run();
