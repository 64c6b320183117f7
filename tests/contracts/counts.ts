/** Returns the counts of items, without `oldestReadyMs`, which differs from run to run. */
export async function countsOf<C extends { oldestReadyMs: number }>(
  queue: { counts(): Promise<C> },
): Promise<Omit<C, "oldestReadyMs">> {
  const { oldestReadyMs: _, ...counts } = await queue.counts();
  return counts;
}
