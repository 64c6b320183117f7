import type { Outcome } from "@workqueue/core";
import type { Cache } from "../cache/cache.ts";
import type { Change } from "../cache/change.ts";
import { ignoreAbsence, isConflict } from "../client/errors.ts";
import { type DeepReadonly, keyOf, type KubeObject } from "../kube_object.ts";
import type { ControllerOptions, ReconcileContext } from "./contract.ts";

/** Makes the attempts of one controller: calls its functions, and manages its finalizer. */
export class Reconciler<T extends KubeObject> {
  readonly #cache: Cache<T>;
  readonly #options: ControllerOptions<T>;
  /** Keys of objects that a selector no longer selects, or that are gone. Only the server knows which. */
  readonly #left = new Set<string>();

  constructor(cache: Cache<T>, options: ControllerOptions<T>) {
    this.#cache = cache;
    this.#options = options;
  }

  /** Keys of objects that left the cache, and that need an attempt for that. */
  get left(): Iterable<string> {
    return this.#left;
  }

  /**
   * Notes a change. If an object with the finalizer leaves the cache, it may have lost only its label, and still exist.
   */
  observe({ type, object }: Change<T>): void {
    const { finalizer } = this.#options;
    if (type !== "delete" || finalizer === undefined || !this.#cache.isSelective) return;
    if (object.metadata.finalizers?.includes(finalizer)) this.#left.add(keyOf(object));
  }

  /**
   * Makes one attempt. If an object changed meanwhile, the attempt is repeated at once, and only once: the cache has
   * the newer object then.
   */
  async attempt(context: ReconcileContext): Promise<Outcome | void> {
    try {
      return await this.#attemptOnce(context);
    } catch (error) {
      if (!isConflict(error) || context.signal.aborted) throw error;
      return await this.#attemptOnce(context);
    }
  }

  async #attemptOnce(context: ReconcileContext): Promise<Outcome | void> {
    const { finalizer, reconcile } = this.#options;
    const { key } = context;
    const live = !this.#cache.get(key) && this.#left.has(key) ? await this.#cache.fetch(key) : undefined;
    const cached = this.#cache.get(key); // the live object, too, if it is selected
    const object = cached ?? live;
    if (object === undefined) return void this.#left.delete(key);
    const { deletionTimestamp, finalizers = [] } = (object as KubeObject).metadata;
    const isHeld = finalizer !== undefined && finalizers.includes(finalizer);
    if (deletionTimestamp || cached === undefined) {
      if (isHeld) await this.#release(object, context);
    } else if (finalizer === undefined || isHeld) {
      return await reconcile.call(this.#options, object, context);
    } else {
      const held = await this.#setFinalizers(object, [...finalizers, finalizer]);
      return await reconcile.call(this.#options, held, context);
    }
    this.#left.delete(key);
  }

  /** Lets the server delete an object, after its cleanup. */
  async #release(object: DeepReadonly<T>, context: ReconcileContext): Promise<void> {
    const { finalizer, cleanup } = this.#options;
    await cleanup!.call(this.#options, object, context);
    const others = (object as KubeObject).metadata.finalizers!.filter((other) => other !== finalizer);
    await this.#setFinalizers(object, others).catch(ignoreAbsence);
  }

  #setFinalizers(object: DeepReadonly<T>, finalizers: readonly string[]): Promise<DeepReadonly<T>> {
    return this.#cache.patch(object, { metadata: { finalizers } } as never);
  }
}
