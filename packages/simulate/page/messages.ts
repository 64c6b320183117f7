/** Messages between the page and its worker. */

/** Request to the worker: the texts of the page. */
export interface Texts {
  readonly config: string;
  readonly load: string;
}

/** Reply of the worker: a simulation as the page shows it, or the message of an error. */
export type Reply = Shown | { readonly error: string };

/** A simulation as the page shows it. */
export interface Shown {
  /** Remarkable facts, each as a sentence. */
  readonly facts: readonly string[];
  /** Source of an SVG image. */
  readonly picture: string;
  /** Key that keeps failing. */
  readonly failing: string;
  /** Delays of the failing key. */
  readonly delays: readonly string[];
  /** Items in the order in which they are handed out. */
  readonly order: readonly string[];
  /** The whole report. */
  readonly report: string;
}
