/** Work for the greeter: config maps, and whether the greeter has done what it must with them. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Admin, configMaps, secrets, type Stored } from "./admin.ts";

const FINALIZER = "example.dev/greet";
const STATUS = "example.dev/greet-status";
const LABEL = "labelSelector=greet%3Dyes";

/** Number of requests at once. */
const AT_ONCE = 10;

/** Returns a config map for the greeter. */
export function greeting(name: string, data: Readonly<Record<string, string>>): unknown {
  return { metadata: { name, labels: { greet: "yes" } }, data };
}

/** Calls `act` for each item, a few at a time. */
export async function forEach<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const item of left) await act(item);
  }));
}

/** Creates config maps with names that begin with `prefix`. Returns the names. */
export async function createMany(admin: Admin, namespace: string, prefix: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  await forEach(names, (name) => admin.create(configMaps(namespace), greeting(name, { text: `hello ${name}` })));
  return names;
}

/** Changes the data of config maps. */
export async function changeMany(
  admin: Admin,
  namespace: string,
  names: readonly string[],
  text: string,
): Promise<void> {
  await forEach(names, (name) => admin.patch(configMaps(namespace, name), { data: { text } }));
}

/** Returns what is wrong with the secrets and the config maps, one line for each fault. */
export function faultsOf(configs: readonly Stored[], copies: readonly Stored[]): string[] {
  const faults: string[] = [];
  const left = new Map(copies.map((secret) => [keyOf(secret), secret]));
  for (const configMap of configs) {
    const key = keyOf(configMap);
    const secret = left.get(key);
    left.delete(key);
    const fault = faultOf(configMap, secret);
    if (fault !== undefined) faults.push(`${key} ${fault}`);
  }
  return [...faults, ...[...left.keys()].map((key) => `${key} is a secret without a config map`)];
}

function faultOf(configMap: Stored, secret: Stored | undefined): string | undefined {
  const { deletionTimestamp, finalizers = [], annotations = {}, uid } = configMap.metadata;
  if (deletionTimestamp !== undefined) return "is still being deleted";
  if (!finalizers.includes(FINALIZER)) return "has no finalizer";
  if (secret === undefined) return "has no secret";
  const owners = (secret.metadata.ownerReferences ?? []).map((owner) => owner.uid);
  if (owners.length !== 1 || owners[0] !== uid) {
    return `has a secret of ${owners.join(" and ") || "nobody"}, not ${uid}`;
  }
  const data = configMap.data ?? {};
  for (const name of new Set([...Object.keys(data), ...Object.keys(secret.data ?? {})])) {
    const copied = secret.data?.[name];
    const wanted = data[name] === undefined ? undefined : Buffer.from(data[name]).toString("base64");
    if (copied !== wanted) return `has a secret with another ${name}`;
  }
  const hash = createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 16);
  if (annotations[STATUS] !== `copied ${hash}`) return `says ${annotations[STATUS]}, not ${hash}`;
  return undefined;
}

/** Returns the config maps and the secrets of a namespace, as they are stored. */
export async function stored(admin: Admin, namespace: string): Promise<[Stored[], Stored[]]> {
  const lists = [configMaps(namespace), secrets(namespace)].map((path) => admin.list(`${path}?${LABEL}`));
  return await Promise.all(lists) as [Stored[], Stored[]];
}

/** Longest time in milliseconds until everything must be in order. */
const DEADLINE = 600_000;

/**
 * Waits until everything is in order, with `count` config maps. Returns the milliseconds that this took. While many are
 * not, looks at them less often, so as not to keep the servers busy.
 */
export async function untilInOrder(
  admin: Admin,
  namespace: string,
  count?: number,
  deadline: number = DEADLINE,
): Promise<number> {
  const begin = performance.now();
  let faults: string[] = ["the API server does not answer"];
  while (performance.now() - begin < deadline) {
    const askedAt = performance.now();
    try {
      const [configs, copies] = await stored(admin, namespace);
      faults = faultsOf(configs, copies);
      await collectGarbage(admin, configs, copies);
      const isAll = count === undefined || configs.length === count;
      if (!isAll) faults.push(`${configs.length} config maps, not ${count}`);
    } catch {
      // The API server is being restarted.
    }
    if (faults.length === 0) return performance.now() - begin;
    await delay(Math.max(10, 5 * (performance.now() - askedAt)));
  }
  throw new Error(
    `not in order within ${deadline / 1000} s: ${faults.length} faults:\n${faults.slice(0, 10).join("\n")}`,
  );
}

/**
 * Deletes the secrets whose owner is gone, as the garbage collector of a whole cluster does. A controller may create
 * one if it learns that the last secret is gone before it learns that the owner is.
 */
async function collectGarbage(admin: Admin, configs: readonly Stored[], copies: readonly Stored[]): Promise<void> {
  const living = new Set(configs.map(({ metadata: { uid } }) => uid));
  for (const { metadata: { namespace, name, ownerReferences = [] } } of copies) {
    if (ownerReferences.length === 0 || ownerReferences.some(({ uid }) => living.has(uid))) continue;
    if (configs.some(({ metadata }) => metadata.name === name)) continue; // the controller corrects its owner
    await admin.delete(secrets(namespace!, name));
  }
}

/** Changes a config map, and returns the milliseconds until its secret follows. */
export async function reaction(admin: Admin, namespace: string, name: string, text: string): Promise<number> {
  const begin = performance.now();
  await admin.patch(configMaps(namespace, name), { data: { text } });
  const wanted = Buffer.from(text).toString("base64");
  while ((await admin.request("GET", secrets(namespace, name))).data?.text !== wanted) {
    if (performance.now() - begin > DEADLINE) throw new Error(`${name} has not followed`);
    await delay(3);
  }
  return performance.now() - begin;
}

function keyOf({ metadata: { namespace, name } }: Stored): string {
  return `${namespace}/${name}`;
}
