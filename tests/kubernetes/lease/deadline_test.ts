/** Test of the deadline of a lease. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { LeaderLease } from "@workqueue/kubernetes";
import { fakeCluster } from "@workqueue/kubernetes/testing";

Deno.test("a lease is lost at its deadline, even if that is between two milliseconds", async () => {
  using time = new FakeTime();
  const cluster = fakeCluster();
  const lease = new LeaderLease(cluster.client, { name: "a", namespace: "default", duration: 5000 });
  const errors: Error[] = [];
  await lease.acquire(new AbortController().signal, (error) => errors.push(error));
  cluster.hang();
  const end = time.now + 10_000; // not a number of timers: those of other tests may be among them
  while (errors.length === 0 && time.now < end && await time.nextAsync());
  assertEquals(errors.map((error) => "code" in error && error.code), ["WQ_LEASE_LOST"]);
  assert(!lease.isHeld);
});
