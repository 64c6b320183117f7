import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Places, widthOf } from "../../packages/cli/view/columns.ts";
import { liveText, type Screen } from "../../packages/cli/view/live_text.ts";
import { colored, plain } from "../../packages/cli/view/style.ts";
import type { Tally } from "../../packages/cli/run/tally.ts";
import { failingTally, recentOf, tallyOf } from "./tallies.ts";

/** Returns the rows of a run that has just reached this state. The rate is the average since the start of the run. */
function show(tally: Tally, screen: Partial<Screen> = {}): string[] {
  return liveText(tally, recentOf(tally), { columns: 79, rows: 4, style: plain, places: new Places(), ...screen });
}

Deno.test("live text: in a healthy run, a bar shows the progress, the rate, and the time left", () => {
  assertEquals(show(tallyOf()), ["", "████████████░░░░░░░░  61 %    612 of 1,000 · 8 running · 61.2/s · 7 s left"]);
});

Deno.test("live text: the top shows why items fail, how many fail, and when the next retry is due", () => {
  assertEquals(show(failingTally()), [
    "",
    "✗ psql: could not connect to server: db down (db/users, attempt 3)",
    "12 failing now · 3 given up · next retry in 3 s",
    "███████████▓░░░░░░░░  61 %    612 of 1,000 · 8 running · 61.2/s · 7 s left",
  ]);
});

Deno.test("live text: if nothing succeeds, the text says so", () => {
  const tally = failingTally({ succeeded: 0, givenUp: 0, nextDueInMs: 90_000 });
  assertEquals(show(tally), [
    "",
    "✗ psql: could not connect to server: db down (db/users, attempt 3)",
    "12 failing now · nothing is succeeding · next retry in 1 min 30 s",
    "░░░░░░░░░░░░░░░░░░░░   0 %      0 of 1,000 · 8 running · 0.0/s",
  ]);
  assertEquals(show(tally, { rows: 1 }), ["✗ psql: could not connect to server: db down (db/users, attempt 3)"]);
});

Deno.test("live text: while the run is paused, the text says so, and shows no time left", () => {
  assertEquals(show(tallyOf({ isPaused: true, running: 0 })), [
    "",
    "████████████░░░░░░░░  61 %    612 of 1,000 · 0 running · paused",
  ]);
});

Deno.test("live text: while the throttle allows no start, the text says why, even if nothing else fits", () => {
  const tally = tallyOf({ heldBack: "open for 12 s: 14 of 20 attempts failed", running: 0 });
  assertEquals(show(tally), ["", " 61 %    612 of 1,000 · throttle open for 12 s: 14 of 20 attempts failed"]);
  assertEquals(show(tally, { columns: 100 }), [
    "",
    "██████░░░░  61 %    612 of 1,000 · 0 running · throttle open for 12 s: 14 of 20 attempts failed",
  ]);
  assertEquals(show({ ...tally, isPaused: true })[1]!.endsWith("0 running · paused"), true);
});

Deno.test("live text: it shows a throttle that holds back all items, and retries that wait for the retry budget", () => {
  const tally = tallyOf({ throttleState: "empty", running: 0 });
  assertEquals(show(tally, { columns: 120 })[1]!.includes("throttle empty"), true);
  const waiting = failingTally({ blockedRetries: 1, nextDueInMs: undefined, givenUp: 0 });
  assertEquals(show(waiting)[2], "12 failing now · 1 retry waits for the retry budget");
});

Deno.test("live text: a worker of a shared queue shows the progress, the rate, and how many items wait for how long", () => {
  const row = (waiting: Tally["waiting"], changes: Partial<Tally> = {}) =>
    show(tallyOf({ waiting, ...changes })).at(-1);
  assertEquals(row({ items: 40, oldest: 3.7 }), "612 done · 8 running · 61.2/s · 40 waiting, the oldest for 3 s");
  assertEquals(row({ items: 4, oldest: 0 }), "612 done · 8 running · 61.2/s · 4 waiting");
  assertEquals(row({ items: 0, oldest: 0 }, { running: 0 }), "612 done · 0 running · 61.2/s · none waiting");
  assertEquals(row({ items: undefined, oldest: 0 }), "612 done · 8 running · 61.2/s");
  assertEquals(row({ items: 4, oldest: 0 }, { isPaused: true }), "612 done · 8 running · paused · 4 waiting");
});

Deno.test("live text: an error that no longer occurs stays, because the rows must not move", () => {
  const row = (changes: Partial<Tally>) => show(failingTally(changes))[2];
  assertEquals(row({ failing: 0, nextDueInMs: undefined }), "3 given up");
  assertEquals(row({ failing: 1, givenUp: 0, nextDueInMs: undefined }), "1 failing now");
  assertEquals(row({ failing: 0, givenUp: 0, nextDueInMs: undefined }), "");
});

Deno.test("live text: a kept line is above the rest, and is omitted first if there is not enough room", () => {
  const kept = "Dashboard: http://127.0.0.1:1234/?token=0123";
  const rows = (rows: number, tally = failingTally(), columns = 79) =>
    liveText(tally, recentOf(tally), { columns, rows, style: plain, places: new Places() }, kept);
  assertEquals(rows(5).length, 5);
  assertEquals([rows(5)[0], rows(5)[1]], ["", kept]);
  assertEquals(rows(4).includes(kept), false);
  assertEquals(rows(4, tallyOf()).slice(0, 2), ["", kept]);
  assertEquals(rows(2, tallyOf())[0], kept);
  assertEquals([kept.length, kept.length - 1].map((columns) => rows(5, tallyOf(), columns).includes(kept)), [
    true,
    false,
  ]);
});

Deno.test("live text: while the input is read, there is no total, and no value derived from it", () => {
  assertEquals(show(tallyOf({ isReading: true })), ["", "   612 of 1,000+ · 8 running · 61.2/s"]);
});

Deno.test("live text: while a file is read, its remaining size determines the estimated number of items", () => {
  const tally = tallyOf({ isReading: true, partRead: 0.25, seconds: 9 });
  assertEquals(show(tally), [
    "",
    "███░░░░░░░░░░░░░░░░░  15 %     612 of 1,000+ · 8 running · 68.0/s · ~50 s left",
  ]);
  assert(show({ ...tally, partRead: 1, succeeded: 1000 })[1]!.includes(" 99 %"));
  assert(!show({ ...tally, partRead: 0 })[1]!.includes("%"));
});

Deno.test("live text: items of an earlier run count as done, and not for the rate", () => {
  const row = show(tallyOf({ doneBefore: 500, succeeded: 100 }))[1];
  assertEquals(row, "████████████░░░░░░░░  60 %    600 of 1,000 · 8 running · 10.0/s · 40 s left");
});

Deno.test("live text: 100 % appears only at the end", () => {
  assertEquals(show(tallyOf({ succeeded: 999 }))[1]!.slice(0, 26), "███████████████████░  99 %");
  assertEquals(show(tallyOf({ succeeded: 1000 }))[1]!.slice(0, 26), "████████████████████ 100 %");
  assertEquals(show(tallyOf({ items: 0, succeeded: 0, running: 0, seconds: 0 })), ["", "0 of 0 · 0 running"]);
});

Deno.test("live text: the time left is at least the time until the next attempt", () => {
  const tally = failingTally({ items: 613, failing: 1, nextDueInMs: 30_000 });
  assert(show(tally)[3]!.endsWith("30 s left"));
});

Deno.test("live text: refused lines are counted", () => {
  assertEquals(show(tallyOf({ refused: 1200 }))[1], "1,200 refused");
});

Deno.test("live text: a run that ends early waits for running commands, and shows no estimate", () => {
  const rows = show(failingTally({ isStopping: true, running: 2 }));
  assertEquals(rows[2], "12 failing now · 3 given up");
  assertEquals(rows[3], "███████████▓░░░░░░░░  61 %    612 of 1,000 · stopping, 2 still running");
});

Deno.test("live text: a small terminal shows what matters most", () => {
  const [reason, , progress] = show(failingTally()).slice(1);
  assertEquals(show(failingTally(), { rows: 2 }), [reason!, progress!]);
  assertEquals(show(failingTally(), { rows: 1 }), [progress!]);
  const rowsOf = (columns: number) => show(failingTally(), { columns }).slice(1);
  assertEquals(rowsOf(60), [
    "✗ psql: could not co…o server: db down (db/users, attempt 3)",
    "12 failing now · 3 given up · next retry in 3 s",
    "█████▓░░░░  61 %    612 of 1,000 · 61.2/s · 7 s left",
  ]);
  assertEquals(rowsOf(45).at(-1), "█████▓░░░░  61 %    612 of 1,000 · 7 s left");
  assertEquals(rowsOf(40).at(-1), " 61 %    612 of 1,000 · 7 s left");
  assertEquals(rowsOf(19), ["✗ psql: co… db down", "12 failing now · 3…", " 61 %    612 of 1,…"]);
});

Deno.test("live text: errors and items with control characters, styles and wide characters stay within their row", () => {
  const lastFailure = { item: "日本語\n\x1b[2J", attempt: 1, reason: "\x1b[1;31merror:\x1b[0m 数据库\x07 down" };
  assertEquals(show(failingTally({ lastFailure }))[1], "✗ error: 数据库\u{FFFD} down (日本語\u{FFFD}, attempt 1)");
});

Deno.test("live text: numbers that get shorter or longer move nothing", () => {
  const places = new Places();
  const separators = [[8, 100, 12], [10, 9, 9], [9, 1, 100]].map(([running, done, failing]) => {
    const tally = failingTally({ running: running!, succeeded: done!, failing: failing!, seconds: 1 });
    const rows = show(tally, { columns: 100, places });
    return rows.map((row) => [...row.matchAll(/ · /g)].map(({ index }) => index));
  });
  // With "100 failing now", the rest of its row moves one character to the right.
  assertEquals(separators[2], separators[1]!.map((row, y) => row.map((x) => x + (y === 2 ? 1 : 0))));
  assertEquals(separators[1]![3]!.length, separators[0]![3]!.length);
});

Deno.test("live text: only problems are red", () => {
  const red = (tally: Tally) => {
    // deno-lint-ignore no-control-regex -- control characters control terminals
    const texts = /\x1b\[31m(.+?)\x1b\[39m/g;
    return show(tally, { style: colored }).flatMap((row) => [...row.matchAll(texts)].map(([, text]) => text));
  };
  assertEquals(red(tallyOf()), []);
  assertEquals(red(failingTally()), ["✗ ", "12 failing now", "3 given up", "▓"]);
  assertEquals(red(failingTally({ succeeded: 0, givenUp: 0 }))[1], "psql: could not connect to server: db down");
});

Deno.test("live text: it is never larger than the screen, in any run", () => {
  const failure = fc.record({
    item: fc.string({ unit: "grapheme", maxLength: 300 }),
    attempt: fc.nat(),
    reason: fc.string({ unit: "binary", maxLength: 300 }),
  });
  const tallies = fc.record({
    items: fc.nat(),
    succeeded: fc.nat(),
    givenUp: fc.nat(),
    refused: fc.nat(2),
    failing: fc.nat(),
    failures: fc.nat(),
    running: fc.nat(10_000),
    isReading: fc.boolean(),
    isStopping: fc.boolean(),
    doneBefore: fc.nat(),
    partRead: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    lastFailure: fc.option(failure, { nil: undefined }),
    nextDueInMs: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: undefined }),
    seconds: fc.double({ min: 0, max: 1e6, noNaN: true }),
  });
  const screens = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 1, max: 4 }) });
  fc.assert(fc.property(tallies, screens, fc.constantFrom(plain, colored), (changes, screen, style) => {
    const items = changes.items + changes.doneBefore + changes.succeeded + changes.givenUp;
    const rows = show(tallyOf({ ...changes, items }), { ...screen, style });
    assert(rows.length >= 1 && rows.length <= screen.rows);
    for (const row of rows) assert(widthOf(row) <= screen.columns && !row.includes("\n"));
  }));
});
