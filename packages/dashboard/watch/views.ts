import type { QueueDetails, State } from "../api.ts";
import { controlsOf } from "../control/controls.ts";
import { worstFirst } from "./verdict.ts";
import type { Watch } from "./watch.ts";
import type { WatchedQueue } from "./watched_queue.ts";

/** Data that is the same for all clients. */
export interface Surroundings {
  readonly instance: string;
  readonly mayReload: boolean;
  readonly audit: { readonly count: number };
}

/** JSON responses of the API. Each response is created once per look at the queues and is shared by all clients. */
export class Views {
  readonly #watch: Watch;
  readonly #surroundings: Surroundings;
  readonly #made = new Map<string, string | Promise<string>>();
  #version = -1;

  constructor(watch: Watch, surroundings: Surroundings) {
    this.#watch = watch;
    this.#surroundings = surroundings;
  }

  state(mayControl: boolean): string {
    return this.#once(`state ${mayControl}`, () => {
      const { instance, mayReload, audit } = this.#surroundings;
      const { queues, throttles } = this.#watch;
      const state: State = {
        instance,
        time: Date.now(),
        mayControl,
        mayReload: mayReload && mayControl,
        acts: audit.count,
        queues: worstFirst(Array.from(queues.values(), (queue) => queue.row())),
        throttles: throttles.rows(),
      };
      return JSON.stringify(state);
    });
  }

  async queue(queue: WatchedQueue, search: string, limit: number): Promise<string> {
    return await this.#once(`queue ${limit} ${JSON.stringify([queue.name, search])}`, async () => {
      const { can, cannot } = controlsOf(queue);
      const details: QueueDetails = { ...await queue.details(search, limit), can, cannot };
      return JSON.stringify(details);
    });
  }

  #once<Made extends string | Promise<string>>(name: string, make: () => Made): Made {
    if (this.#version !== this.#watch.version) this.#made.clear();
    this.#version = this.#watch.version;
    let made = this.#made.get(name) as Made | undefined;
    if (made === undefined) this.#made.set(name, made = make());
    return made;
  }
}
