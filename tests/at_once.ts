/** Helper for tests that run concurrently. */

interface Test {
  readonly name: string;
  readonly fn: () => Promise<void>;
}

/**
 * Registers tests that run concurrently. The first test to run starts all of them, so the total time is the time of the
 * slowest test.
 *
 * Use it for tests that mostly wait for time to pass.
 */
export function testAtOnce(tests: readonly Test[], ignore = false): void {
  let results: Promise<PromiseSettledResult<void>[]> | undefined;
  const runAll = () => results ??= Promise.allSettled(tests.map(({ fn }) => fn()));
  for (const [index, { name }] of tests.entries()) {
    Deno.test({
      name,
      ignore,
      async fn() {
        const result = (await runAll())[index]!;
        if (result.status === "rejected") throw result.reason;
      },
    });
  }
}
