/** The end of something: a promise of the reason, and what keeps it. */
export class Ending {
  /** Resolves at the end. */
  readonly reason: Promise<Error>;
  /** Ends it, at the first call. */
  end!: (reason: Error) => void;

  constructor() {
    this.reason = new Promise((resolve) => this.end = resolve);
  }
}
