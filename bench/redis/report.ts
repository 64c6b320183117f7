/** Report on the results, as a Markdown page. */

import type { Figures } from "../figures.ts";
import { table } from "../markdown.ts";
import { BULK } from "../remote/contender.ts";
import type { Lateness } from "../remote/lateness.ts";
import { EMPTY_CALL, type Facts, figureName, PAYLOADS } from "./facts.ts";
import { BULLMQ, OURS } from "./names.ts";
import { payloadText, ratioOf, targetsOf } from "./targets.ts";
import { works } from "./works.ts";

/** Returns the whole page. */
export function report(figures: Figures, facts: Facts): string {
  const { machine, versions, rounds, minutes, million } = facts;
  const lines = [
    "# Benchmarks of the queue on Redis",
    "",
    "Written by `npx -y deno task bench:redis`: one server without persistence, on the machine of the clients, reached by",
    `the loopback; one run of ${
      minutes.toFixed(0)
    } minutes. A round takes every measurement once, this queue and BullMQ right after each other.`,
    "A figure is the median of the rounds, a ratio the median of the ratios of the rounds. The machine is shared with",
    "others: the ratios tell more than the microseconds.",
    "",
    `- ${machine}`,
    ...versions.map((version) => `- ${version}`),
    `- ${rounds} rounds`,
    "",
    "## What has to be reached",
    "",
    "“3 × BullMQ” is three times as many items in the same time. The orders are those of this package, with ten",
    "priorities or ten groups. FIFO is first in, first out.",
    "",
    ...targetTable(figures, facts),
    "",
    "## Against BullMQ",
    "",
    "Keys have 26 bytes, and all are different. BullMQ has the key as the job's name and the payload as its data, keeps no",
    "finished jobs (`removeOnComplete`), and its workers have a handler that returns at once, like ours. “At once” is how",
    "many `add`s are under way, the `concurrency` of the one worker, or the number of loops that take and finish by hand",
    "(`getNextJob` and `moveToCompleted`; `get` and `finish`). “In one call” is `addBulk` and `addAll`.",
    "",
    "Both do not do the same. BullMQ writes an event of each step of a job to a stream that others can read, keeps finished",
    "jobs with their results and logs (not here: `removeOnComplete`), and knows progress, priorities, parents and children.",
    "This queue has none of that. It keeps one entry a key however often it is added, hands no key to two at once, and",
    "counts failures by key. Both renew what they hold, and find what others lost. This queue sends what is added in one",
    "turn of the event loop in one call, and its workers tell what they have finished and take what is next in one call for",
    "all of them: most of the ratio of 10 and 50 at once comes from that.",
    "",
    `One at a time, both wait for the way to the server and back. That alone, a call of a script that does nothing, took ${
      emptyCalls(figures, facts)
    }.`,
    "",
    ...PAYLOADS.flatMap((payload) => workTable(figures, facts, payload)),
    "## Worker processes",
    "",
    "Processes on the same two cores as the server, handlers that return at once, keys alone. The last column is what the",
    "server could do if it had nothing else to do and clients cost nothing: one core, divided by what an item costs it.",
    "",
    ...throughputTable(facts),
    "",
    "Calls a second of a script that does nothing, by `redis-benchmark`: what this server can answer at most.",
    "",
    ...emptyScriptTable(facts),
    "",
    "## Waking up",
    "",
    "One process adds to a queue on which an idle worker in another process waits: the time from the call of `add` until",
    "the handler begins, or from when an item is due. On the same machine.",
    "",
    ...reactionTable(facts),
    `## ${million.keys.toLocaleString("en")} keys`,
    "",
    `The server's memory: ${million.memory.ready.toFixed(0)} bytes a key that is ready, ${
      million.memory.delayed.toFixed(0)
    } bytes a delayed key; the key itself is 26 of them.`,
    `The script that takes one key: ${million.take.few.toFixed(0)} µs among a thousand, ${
      million.take.many.toFixed(0)
    } µs among ${million.keys.toLocaleString("en")} (medians).`,
    "",
    "The time of single scripts, as the server measures it. Other work on the machine delays scripts too, so the worst time",
    "depends on the machine as much as on the script.",
    "",
    ...millionTable(facts),
  ];
  return lines.join("\n") + "\n";
}

function targetTable(figures: Figures, facts: Facts): string[] {
  const { runtimes } = facts;
  const rows = targetsOf(figures, facts).map(({ claim, bound, measured }) => {
    const cells = measured.map(({ text, reached }) => `${reached ? "✓" : "✗"} ${text}`);
    return [claim, bound, ...runtimes.map((_, i) => cells[i] ?? "")];
  });
  return table(["work", "bound", ...runtimes.map((runtime) => `on ${runtime}`)], rows);
}

function workTable(figures: Figures, { runtimes }: Facts, payload: number): string[] {
  const rows = Object.entries(works).flatMap(([name, { title, concurrency }]) =>
    runtimes.map((runtime) => {
      const cell = (contender: string) => {
        const figure = { work: figureName(name, payload), contender, runtime };
        const [least, most] = figures.spread(figure);
        return `${micros(figures.median(figure))} (${micros(least)} – ${micros(most)})`;
      };
      const inOneCall = name === "bulk" ? `${BULK} in one call` : `${concurrency} at once`;
      return [
        title,
        inOneCall,
        runtime,
        cell(OURS),
        cell(BULLMQ),
        `${ratioOf(figures, name, payload, runtime).toFixed(2)} ×`,
      ];
    })
  );
  const head = ["", "", "on", `${OURS}, µs an item (rounds)`, `${BULLMQ}, µs an item (rounds)`, "as many items"];
  const title = payloadText(payload);
  return [`### ${title[0]!.toUpperCase()}${title.slice(1)}`, "", ...table(head, rows), ""];
}

function emptyCalls(figures: Figures, { runtimes }: Facts): string {
  return runtimes.map((runtime) => `${micros(figures.median({ ...EMPTY_CALL, runtime }))} µs on ${runtime}`).join(", ");
}

function throughputTable({ throughput }: Facts): string[] {
  const rows = throughput.map(({ runtime, processes, concurrency, rate, serverShare, perCall, scriptTime }) => [
    runtime,
    `${processes}`,
    `${concurrency}`,
    count(rate),
    `${(100 * serverShare).toFixed(0)} %`,
    perCall.toFixed(1),
    `${scriptTime.toFixed(1)} µs`,
    count(rate / serverShare),
  ]);
  const head = ["on", "processes", "at once in each", "items a second", "of a core, for the server", "items a call"];
  return table([...head, "scripts, an item", "the server alone, items a second"], rows);
}

function emptyScriptTable({ emptyScript }: Facts): string[] {
  const rows = emptyScript.map(({ connections, pipeline, rate }) => [`${connections}`, `${pipeline}`, count(rate)]);
  return table(["connections", "calls sent together", "calls a second"], rows);
}

function reactionTable({ reactions }: Facts): string[] {
  const cells = ({ median, p99, worst }: Lateness) => [median, p99, worst].map((ms) => `${ms.toFixed(2)} ms`);
  return ([["an add", "wakeUp"], ["an item that is due", "due"]] as const).flatMap(([title, kind]) => {
    const rows = reactions.map((each) => [each.contender, each.runtime, ...cells(each[kind])]);
    return [...table([title, "on", "median", "99th percentile", "worst"], rows), ""];
  });
}

function millionTable({ million }: Facts): string[] {
  const rows = million.slowest.map(([what, { calls, median, p99, worst }]) => [
    what,
    `${calls}`,
    ...[median, p99, worst].map((time) => `${(time / 1000).toFixed(2)} ms`),
  ]);
  return table(["", "calls", "median", "99th percentile", "worst"], rows);
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function micros(value: number): string {
  return value < 100 ? value.toFixed(1) : count(value);
}
