import { assert, assertEquals, assertThrows } from "@std/assert";
import { TokenBucket } from "@workqueue/core";
import { onBucketChange, together } from "../../lib/tokens/bucket_changes.ts";

/**
 * Creates two buckets and records each change as a listener sees it: the changed bucket, the rates and bursts of both
 * buckets, and whether the change was a pause.
 */
function listenToTwo() {
  const [a, b] = [new TokenBucket(1, 1), new TokenBucket(1, 1)];
  const heard: string[] = [];
  const log = (name: string) => (isPause: boolean) =>
    heard.push(`${name}: ${isPause ? "pause, " : ""}${a.rate}/s ${a.burst}, ${b.rate}/s ${b.burst}`);
  onBucketChange(a, log("a"));
  onBucketChange(b, log("b"));
  return { a, b, heard, log };
}

Deno.test("together: listeners are called at the end with all changes, once for each bucket that changed", () => {
  const { a, b, heard } = listenToTwo();
  together(() => {
    a.setRate(2);
    b.setRate(3);
    a.setBurst(4);
    assertEquals(heard, []);
  });
  assertEquals(heard, ["a: 2/s 4, 3/s 1", "b: 2/s 4, 3/s 1"]);

  heard.length = 0;
  together(() => b.setBurst(5));
  together(() => b.setBurst(5)); // no change
  assertEquals(heard, ["b: 2/s 4, 3/s 5"]);

  b.setBurst(6); // reported at once, because the change is outside `together`
  assertEquals(heard.length, 2);
});

Deno.test("together: several changes of a bucket count as a pause if one of them was a pause", () => {
  const { a, b, heard } = listenToTwo();
  together(() => {
    a.pauseFor("1s");
    a.setRate(2);
    b.setRate(2);
    b.pauseFor("1s");
  });
  assertEquals(heard, ["a: pause, 2/s 1, 2/s 1", "b: pause, 2/s 1, 2/s 1"]);

  heard.length = 0;
  together(() => {
    a.resume();
    b.setRate(3);
    b.resume();
  });
  assertEquals(heard, ["a: 2/s 1, 3/s 1", "b: 2/s 1, 3/s 1"], "the end of a pause is none");
});

Deno.test("together: an action inside another one ends with the outer one, even if it throws", () => {
  const { a, b, heard } = listenToTwo();
  together(() => {
    together(() => a.setRate(2));
    assertThrows(
      () =>
        together(() => {
          b.setRate(2);
          throw new Error("inner");
        }),
      Error,
      "inner",
    );
    assertEquals(heard, []);
    a.setBurst(2);
  });
  assertEquals(heard, ["a: 2/s 2, 2/s 1", "b: 2/s 2, 2/s 1"]);
});

Deno.test("together: listeners are called even if the action throws or another listener does; the first error is thrown", () => {
  const { a, b, heard, log } = listenToTwo();
  let first = true;
  for (const message of ["one", "two"]) {
    onBucketChange(a, () => {
      throw new Error(message);
    });
  }
  onBucketChange(a, log("after"));
  const change = () => {
    a.setRate(a.rate + 1);
    b.setRate(b.rate + 1);
    if (first) throw new Error("action");
  };

  assertThrows(() => together(change), Error, "action");
  assertEquals(heard, ["a: 2/s 1, 2/s 1", "after: 2/s 1, 2/s 1", "b: 2/s 1, 2/s 1"]);

  first = false;
  heard.length = 0;
  assertThrows(() => together(change), Error, "one");
  assertEquals(heard, ["a: 3/s 1, 3/s 1", "after: 3/s 1, 3/s 1", "b: 3/s 1, 3/s 1"]);

  heard.length = 0;
  b.setRate(1); // reported at once, because `together` has ended
  assertEquals(heard, ["b: 3/s 1, 1/s 1"]);
});

Deno.test("together: listeners removed before the end, or added after the change, are not called", () => {
  const { a, heard, log } = listenToTwo();
  const ends: (() => void)[] = [];
  onBucketChange(a, () => ends[1]!());
  ends.push(onBucketChange(a, log("went in the action")), onBucketChange(a, log("went while others were called")));
  together(() => {
    a.setRate(2);
    ends[0]!();
    onBucketChange(a, log("came after the change"));
  });
  assertEquals(heard, ["a: 2/s 1, 1/s 1"]);
});

Deno.test("together: changes by a listener are reported at once, or at the end of the listener's own action", () => {
  const { a, b, heard } = listenToTwo();
  let turns = 0;
  onBucketChange(a, () => {
    if (turns++ === 0) b.setRate(9);
    if (turns === 1) together(() => b.setBurst(9));
    assert(turns < 5);
  });
  together(() => a.setRate(2));
  assertEquals(heard, ["a: 2/s 1, 1/s 1", "b: 2/s 1, 9/s 1", "b: 2/s 1, 9/s 9"]);
});
