/** Tests of a controller with unusual objects and rights. */

import { assertEquals, assertMatch } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { type Admin, configMaps, secrets } from "./admin.ts";
import { ControllerProcess, until } from "./controller_process.ts";
import { changeMany, createMany, greeting, untilInOrder } from "./greetings.ts";
import { between, requestsOfOthers } from "./requests.ts";
import { clusterTest, onEachRuntime, RUNTIMES } from "./real_tests.ts";
import { change, CONTROLLER, grant, OF_GREETER } from "./rights.ts";

const NAMESPACE = "default";
const SOON = 60_000;
const LONG = 600_000;
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GREETINGS = `/apis/example.dev/v1/namespaces/${NAMESPACE}/greetings`;

/** Creates the definition of a kind with the fields of config maps, and waits until it is served. */
async function define(admin: Admin): Promise<void> {
  const texts = { type: "object", additionalProperties: { type: "string" } };
  await admin.create(CRDS, {
    metadata: { name: "greetings.example.dev" },
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { kind: "Greeting", plural: "greetings" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { data: texts } } },
      }],
    },
  });
  await until(async () => (await admin.list(GREETINGS).catch(() => undefined)) !== undefined);
}

onEachRuntime("a kind that appears, vanishes, and appears again", async (runtime, cluster) => {
  const { admin } = cluster;
  const kind = { API_VERSION: "example.dev/v1", KIND: "Greeting", REQUEUE: "10m" };
  await using controller = await ControllerProcess.greeter(runtime, cluster.kubeconfig(), kind);
  const greet = async (name: string) => {
    const object = { apiVersion: "example.dev/v1", kind: "Greeting", ...greeting(name, { text: name }) as object };
    await admin.create(GREETINGS, object);
    await until(async () =>
      (await admin.request("GET", secrets(NAMESPACE, name)).catch(() => undefined)) !== undefined
    );
  };
  await delay(3000); // the kind is missing
  await define(admin);
  await greet("one");
  await admin.delete(`${CRDS}/greetings.example.dev`);
  // The controller removes its finalizers, so the objects and then the kind can go.
  await until(async () => (await admin.request("GET", `${CRDS}/greetings.example.dev`).catch(() => "gone")) === "gone");
  assertEquals(controller.of("cleanup").length, 1);
  await delay(3000);
  await define(admin);
  await greet("two");
});

onEachRuntime("rights that are revoked and granted again", async (runtime, cluster, t) => {
  const { admin } = cluster;
  const withoutSecrets = OF_GREETER.filter(({ resources }) => !resources.includes("secrets"));
  const kubeconfig = cluster.kubeconfig({ user: CONTROLLER });
  await grant(admin, OF_GREETER);

  await t.step("while the controller runs", async () => {
    await using controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
    const names = await createMany(admin, NAMESPACE, "a", 5);
    await untilInOrder(admin, NAMESPACE, 5, SOON);
    await change(admin, withoutSecrets);
    await changeMany(admin, NAMESPACE, names, "revoked");
    await until(() => controller.of("error").some(({ message }) => message!.includes("403")));
    await cluster.api.restart(); // ends the watches too
    await delay(5000);
    await change(admin, OF_GREETER);
    await untilInOrder(admin, NAMESPACE, 5, SOON);
    assertEquals(controller.hasEnded, false);
  });

  await t.step("from the start: the controller ends, and names the missing permission", async () => {
    await change(admin, withoutSecrets);
    await using controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
    const { message } = await controller.saw("ended", 240_000);
    assertMatch(message!, /cannot (list|watch) resource "secrets" in API group "" at the cluster scope/);
    assertEquals(await controller.ended(), 1);
  });
});

onEachRuntime("a level of priority with one seat", async (runtime, cluster) => {
  const { admin } = cluster;
  const flow = "/apis/flowcontrol.apiserver.k8s.io/v1";
  await admin.create(`${flow}/prioritylevelconfigurations`, {
    metadata: { name: "tight" },
    spec: {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 1,
        lendablePercent: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: "Reject" },
      },
    },
  });
  await grant(admin, OF_GREETER); // the administrator is exempt
  await admin.create(`${flow}/flowschemas`, {
    metadata: { name: "tight" },
    spec: {
      matchingPrecedence: 2,
      priorityLevelConfiguration: { name: "tight" },
      rules: [{
        subjects: [{ kind: "User", user: { name: "controller" } }],
        resourceRules: [{
          verbs: ["patch", "update", "list", "watch"],
          apiGroups: [""],
          resources: ["configmaps", "secrets"],
          namespaces: ["*"],
        }],
      }],
    },
  });
  await createMany(admin, NAMESPACE, "a", 200);
  await delay(3000); // until the schema is in force
  const kubeconfig = cluster.kubeconfig({ user: CONTROLLER });
  await using _controller = await ControllerProcess.greeter(runtime, kubeconfig, { REQUEUE: "10m" });
  await untilInOrder(admin, NAMESPACE, 200, 5 * SOON);
}, { flags: ["--max-requests-inflight=6", "--max-mutating-requests-inflight=3"] });

onEachRuntime("a process that starts again writes only what somebody has changed", async (runtime, cluster) => {
  const { admin } = cluster;
  const start = () => ControllerProcess.greeter(runtime, cluster.kubeconfig(), { REQUEUE: "10m" });
  const names = await createMany(admin, NAMESPACE, "a", 50);
  {
    await using first = await start();
    await untilInOrder(admin, NAMESPACE, 50, SOON);
    await first.end();
  }
  await admin.patch(secrets(NAMESPACE, names[0]!), { data: { text: "b3RoZXI=" } });
  await admin.patch(secrets(NAMESPACE, names[1]!), { data: { other: "b3RoZXI=" } }); // the controller keeps it
  await admin.patch(secrets(NAMESPACE, names[2]!), { metadata: { labels: { greet: "yes" } } }); // changes nothing
  const before = await requestsOfOthers(admin);
  await using again = await start();
  await until(() => new Set(again.of("end").map(({ key }) => key)).size === 50);
  await until(async () => (await admin.request("GET", secrets(NAMESPACE, names[0]!))).data?.text !== "b3RoZXI=");
  assertEquals(between(before, await requestsOfOthers(admin)), { writes: 1, reads: 0, conflicts: 0 });
});

onEachRuntime("objects of 1 MB", async (runtime, cluster) => {
  const { admin } = cluster;
  await using controller = await ControllerProcess.greeter(runtime, cluster.kubeconfig(), { REQUEUE: "10m" });
  await controller.saw("synced");
  const text = "é".repeat(350_000); // 700 kB, and nearly 1 MB in the secret
  for (let i = 0; i < 40; i++) await admin.create(configMaps(NAMESPACE), greeting(`large-${i}`, { text }));
  await untilInOrder(admin, NAMESPACE, 40, 2 * SOON);
  await cluster.api.restart();
  await changeMany(admin, NAMESPACE, ["large-1"], "small");
  await untilInOrder(admin, NAMESPACE, 40, 2 * SOON);
  await controller.end();
  await using again = await ControllerProcess.greeter(runtime, cluster.kubeconfig(), { REQUEUE: "10m" });
  await again.saw("synced");
  assertEquals(Object.keys(await again.cached()).length, 80);
});

onEachRuntime("5,000 objects", async (runtime, cluster) => {
  const { admin } = cluster;
  await createMany(admin, NAMESPACE, "a", 5000);
  await using _controller = await ControllerProcess.greeter(runtime, cluster.kubeconfig(), { REQUEUE: "10m" });
  await untilInOrder(admin, NAMESPACE, 5000, LONG);
});

for (const runtime of RUNTIMES.slice(0, 1)) {
  clusterTest(`${runtime}: 50,000 objects`, async (cluster) => {
    const { admin } = cluster;
    // Without a finalizer of the greeter, an object would get three writes: let another process have done them.
    await createMany(admin, NAMESPACE, "a", 50_000);
    await using controller = await ControllerProcess.greeter(runtime, cluster.kubeconfig(), { REQUEUE: "10h" });
    await controller.saw("synced", LONG);
    assertEquals(Object.keys(await controller.cached()).filter((key) => key.startsWith("configmaps/")).length, 50_000);
    await admin.create(configMaps(NAMESPACE), greeting("new", { text: "new" }));
    const secret = () => admin.request("GET", secrets(NAMESPACE, "new")).catch(() => undefined);
    await until(async () => await secret() !== undefined, () => "the new secret goes before 50,000 others", LONG);
  });
}
