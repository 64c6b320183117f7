/** Random actions of somebody else on the objects of a controller. */

import { configMaps, secrets, type Stored } from "../admin.ts";
import type { Action } from "./history.ts";

/** Sends a request as somebody else. */
export type Send = (method: string, path: string, body?: unknown, type?: string) => Promise<Stored>;

const NAMESPACE = "default";
const NAMES = 12;
const KEYS = 3;
const UNLABELED = 3;
/** Number of looks for an object that the controller creates again, and the milliseconds between them. */
const [LOOKS, LOOK_AGAIN] = [200, 2];
const MERGE = "application/merge-patch+json";
const FINALIZER = "example.dev/greet";
const OTHER_FINALIZER = "example.com/other";

/** Objects on which somebody else acts, at random. */
export class Actions {
  readonly #done: Action[] = [];
  /** Objects whose finalizers were removed by force, by their uids: no cleanup need precede their end. */
  readonly #forced = new Set<string>();
  readonly #send: Send;
  readonly #random: () => number;
  #texts = 0;

  constructor(send: Send, random: () => number) {
    this.#send = send;
    this.#random = random;
  }

  /** Actions so far. */
  get done(): Action[] {
    return this.#done.map(({ cleanedUp, ...action }) =>
      cleanedUp === undefined || this.#forced.has(cleanedUp) ? action : { ...action, cleanedUp }
    );
  }

  /** Does something to an object, both of them at random. */
  async act(): Promise<void> {
    const choices = [
      ...[this.#change, this.#change, this.#change, this.#change],
      ...[this.#delete, this.#delete, this.#replace, this.#hold],
      ...[this.#touch, this.#deleteSecret, this.#deleteSecretAgain, this.#spoilSecret, this.#disown],
    ];
    const name = `object-${this.#pick(NAMES)}`;
    const act = choices[this.#pick(choices.length)]!;
    try {
      const cleanedUp = await act.call(this, name);
      this.#note(act.name.slice(1), name, cleanedUp);
    } catch (error) {
      // The object doesn't exist or exists, or has changed meanwhile: another action follows.
      if (!/: (404|409|422)|\b(404|409|422)\b/.test(String(error))) throw error;
    }
  }

  /** Removes the finalizers of others, so that deletions can end. */
  async release(): Promise<void> {
    for (let i = 0; i < NAMES; i++) {
      const path = configMaps(NAMESPACE, `object-${i}`);
      const { finalizers = [], resourceVersion } = (await this.#find(path))?.metadata ?? {};
      if (!finalizers.includes(OTHER_FINALIZER)) continue;
      const own = finalizers.filter((finalizer) => finalizer !== OTHER_FINALIZER);
      try {
        await this.#send("PATCH", path, { metadata: { finalizers: own, resourceVersion } }, MERGE);
      } catch {
        i--; // the controller has changed the finalizers meanwhile
      }
    }
  }

  /** Removes the label by which the controller selects an object, from some objects. */
  async unlabel(): Promise<void> {
    for (let i = 0; i < UNLABELED; i++) {
      const path = configMaps(NAMESPACE, `object-${this.#pick(NAMES)}`);
      if (await this.#find(path) === undefined) continue;
      const { metadata } = await this.#send("PATCH", path, { metadata: { labels: { greet: null } } }, MERGE);
      this.#forced.add(metadata.uid);
    }
  }

  /** Changes an object, or creates it. */
  async #change(name: string): Promise<undefined> {
    const path = configMaps(NAMESPACE, name);
    const data = { [`key-${this.#pick(KEYS)}`]: this.#text() };
    if (await this.#find(path) !== undefined) await this.#send("PATCH", path, { data }, MERGE);
    else await this.#send("POST", configMaps(NAMESPACE), this.#object(name));
  }

  async #touch(name: string): Promise<undefined> {
    const annotations = { "example.com/touched": this.#text() };
    await this.#send("PATCH", configMaps(NAMESPACE, name), { metadata: { annotations } }, MERGE);
  }

  /**
   * Deletes an object. Returns its uid if it had the controller's finalizer. Otherwise, the controller never saw it:
   * deletes the secret of its predecessor, as the garbage collector would if the secret had an owner.
   */
  async #delete(name: string): Promise<string | undefined> {
    const { metadata } = await this.#send("DELETE", configMaps(NAMESPACE, name));
    if (metadata?.finalizers?.includes(FINALIZER)) return metadata.uid;
    await this.#send("DELETE", secrets(NAMESPACE, name));
  }

  /** Removes an object at once, whatever its finalizers, and creates another one with its name. */
  async #replace(name: string): Promise<undefined> {
    const path = configMaps(NAMESPACE, name);
    const { metadata } = await this.#send("PATCH", path, { metadata: { finalizers: null } }, MERGE);
    this.#forced.add(metadata.uid);
    if (await this.#find(path) !== undefined) await this.#send("DELETE", path); // it is gone if it was being deleted
    while (await this.#find(path) !== undefined) { // the controller has added its finalizer meanwhile
      await this.#send("PATCH", path, { metadata: { finalizers: null } }, MERGE).catch(() => {});
    }
    await this.#send("POST", configMaps(NAMESPACE), this.#object(name));
  }

  /** Creates an object with a finalizer of its own, which the controller must not remove. */
  async #hold(name: string): Promise<undefined> {
    const object = this.#object(name);
    object.metadata.finalizers = [OTHER_FINALIZER];
    await this.#send("POST", configMaps(NAMESPACE), object);
  }

  async #deleteSecret(name: string): Promise<undefined> {
    await this.#send("DELETE", secrets(NAMESPACE, name));
  }

  /** Deletes a secret, and again as soon as there is another one: the controller may not have its answer yet. */
  async #deleteSecretAgain(name: string): Promise<undefined> {
    const path = secrets(NAMESPACE, name);
    await this.#send("DELETE", path);
    for (let looks = 0; looks < LOOKS && await this.#find(path) === undefined; looks++) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
    }
    await this.#send("DELETE", path);
  }

  async #spoilSecret(name: string): Promise<undefined> {
    const data = { [`key-${this.#pick(KEYS)}`]: btoa(this.#text()) };
    await this.#send("PATCH", secrets(NAMESPACE, name), { data }, MERGE);
  }

  /** Removes the owner of a secret. */
  async #disown(name: string): Promise<undefined> {
    await this.#send("PATCH", secrets(NAMESPACE, name), { metadata: { ownerReferences: null } }, MERGE);
  }

  async #find(path: string): Promise<Stored | undefined> {
    try {
      return await this.#send("GET", path);
    } catch (error) {
      if (!/\b404\b/.test(String(error))) throw error;
      return undefined;
    }
  }

  /** Returns a new object. All have the same keys: a key of a secret would stay if somebody else has set it. */
  #object(name: string) {
    const data = Object.fromEntries(Array.from({ length: KEYS }, (_, i) => [`key-${i}`, this.#text()]));
    const metadata: Record<string, unknown> = { name, labels: { greet: "yes" } };
    return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
  }

  #text(): string {
    return `text ${++this.#texts}`;
  }

  #note(name: string, object: string, cleanedUp: string | undefined): void {
    this.#done.push({
      at: Date.now(),
      name,
      key: `${NAMESPACE}/${object}`,
      ...cleanedUp !== undefined && { cleanedUp },
    });
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }
}
