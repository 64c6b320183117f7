import { setImmediate } from "node:timers";

/**
 * Promise of a call that doesn't have to be awaited: if nothing handles its rejection, the error is reported. As for
 * unhandled rejections of a runtime, a handler counts if it is added before the next turn of the event loop.
 */
export class ReportedCall<R> extends Promise<R> {
  #isHandled = false;

  /** Promises that are derived from this one are plain. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Returns the promise of a call. `report` is called at most once. */
  static of<R>(call: Promise<R>, report: (error: unknown) => void): ReportedCall<R> {
    const reported = new ReportedCall<R>((resolve, reject) => {
      call.then(resolve, (error) => {
        reject(error);
        setImmediate(() => {
          if (!reported.#isHandled) report(error);
        });
      });
    });
    Promise.prototype.then.call(reported, undefined, () => {}); // no unhandled rejection for the runtime
    return reported;
  }

  /** Notes that something handles the promise: `await` and every method of promises call this method. */
  override then<A = R, B = never>(
    onResolved?: ((value: R) => A | PromiseLike<A>) | null,
    onRejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isHandled = true;
    return super.then(onResolved, onRejected);
  }
}
