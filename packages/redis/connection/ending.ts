/** Promise for the reason why a wire ended, with the function that resolves the promise. */
export class Ending {
  /** Resolves to the reason when the wire ends. */
  readonly reason: Promise<Error>;
  /** Resolves `reason`. Only the first call has an effect. */
  end!: (reason: Error) => void;

  constructor() {
    this.reason = new Promise((resolve) => this.end = resolve);
  }
}
