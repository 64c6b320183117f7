/** Tests of `docs/controller.md`: the files that it shows, and the permissions in the manifest. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { LeaderLease, Manager } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import type { Tokens } from "marked";
import { parseAllDocuments } from "yaml";
import { controlWebsites } from "../../examples/controller/controller.ts";
import { definition } from "../../examples/controller/website.ts";
import { pass, settle } from "../kubernetes/fake_time.ts";
import { tokensOf } from "./markdown.ts";

const EXAMPLES = new URL("../../examples/controller/", import.meta.url);
const page = await Deno.readTextFile(new URL("../../docs/controller.md", import.meta.url));
const read = (name: string) => Deno.readTextFileSync(new URL(name, EXAMPLES));

Deno.test("docs/controller.md shows files as they are", () => {
  const blocks = tokensOf(page).filter((token): token is Tokens.Code => token.type === "code");
  const shown = blocks.flatMap(({ text }) => /^(?:\/\/|#) (\S+)\n/.exec(text)?.[1] ?? []);
  assertEquals(shown, ["greet.ts", "controller.ts", "main.ts", "Dockerfile.deno", "Dockerfile.bun"]);
  for (const name of shown) {
    const { text } = blocks.find(({ text }) => text.startsWith(`// ${name}\n`) || text.startsWith(`# ${name}\n`))!;
    assertEquals(text.slice(text.indexOf("\n") + 1), read(name).trimEnd());
  }
});

Deno.test("the greeter has at most 40 lines", () => {
  assertEquals(read("greet.ts").trimEnd().split("\n").length <= 40, true);
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}

/** Permissions in the form `watch websites`. */
function permissionsIn(manifests: readonly Manifest[]): Set<string> {
  const rules = manifests.flatMap(({ rules }) => rules ?? []);
  return new Set(
    rules.flatMap(({ resources, verbs }) => resources.flatMap((one) => verbs.map((verb) => `${verb} ${one}`))),
  );
}

Deno.test("deploy.yaml grants the permissions that the controller uses, and no others", async () => {
  using time = new FakeTime();
  const manifests = parseAllDocuments(read("deploy.yaml")).map((document) => document.toJS() as Manifest);
  const cluster = fakeCluster({ resources: [definition] });
  await settle();
  cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "websites" } });
  const shop = { apiVersion: "example.dev/v1", kind: "Website", metadata: { name: "shop" }, spec: { host: "a" } };
  const lease = { name: "website-controller", namespace: "websites" };
  cluster.failNext({ verb: "watch" }, 422, { times: 2 }); // lists pages, too
  cluster.failNext({ verb: "patch", resource: "websites" }, 409, { reason: "Conflict" }); // reads the object
  const manager = new Manager({ name: "test", client: cluster.client, lease });
  controlWebsites(manager, { add: () => Promise.resolve(), remove: () => Promise.resolve() });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  cluster.create(shop);
  await pass(time, 3000);
  cluster.delete(shop);
  await pass(time, 3000);
  stop.abort();
  await ended;
  await new LeaderLease(cluster.client, lease).acquire(AbortSignal.timeout(1000), () => {}).catch(() => {});

  const sent = cluster.requests.filter(({ resource }) => resource).map(({ verb, resource, subresource }) =>
    `${verb} ${resource}${subresource ? `/${subresource}` : ""}`
  );
  const granted = permissionsIn(manifests);
  assertEquals(sent.filter((permission) => !granted.has(permission)), []);
  // An apply needs the permission to create objects, and owner references that to update finalizers on some servers.
  const indirect = ["create configmaps", "get configmaps", "update websites/finalizers"];
  assertEquals([...granted].filter((permission) => !sent.includes(permission) && !indirect.includes(permission)), []);
});

Deno.test("deploy.yaml binds the roles to the account of the Deployment", () => {
  const manifests = parseAllDocuments(read("deploy.yaml")).map((document) => document.toJS() as Manifest);
  assertEquals(manifests.map(({ kind }) => kind), [
    "Namespace",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Deployment",
  ]);
  assertEquals(new Set(manifests.slice(1).map(({ metadata: { name } }) => name)), new Set(["website-controller"]));
});
