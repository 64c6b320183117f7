/** End of something: a promise of the reason, and the function that resolves it. */
export class Ending {
  /** Resolves to the reason at the end. */
  readonly reason: Promise<Error>;
  /** Ends it. Only the first call counts. */
  end!: (reason: Error) => void;

  constructor() {
    this.reason = new Promise((resolve) => this.end = resolve);
  }
}
