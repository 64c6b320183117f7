/** Measurements of this queue alone, in processes of its own. */

import type { Runtime } from "../remote/agents.ts";
import { measureLateness } from "../remote/lateness.ts";
import { FEW_ROUNDS, type Row } from "../rows/row.ts";
import type { FileCalls } from "./agent.ts";
import { measureWakeUps } from "./idle.ts";
import { IN_THREAD, OURS } from "./names.ts";
import { runtimesOf } from "./works.ts";

/** Measurement. Its contenders are the names of the figures that it returns. */
export interface Probe extends Row {
  /**
   * Measures once.
   *
   * @param place The path for a new file.
   * @param isQuick Whether a small part is enough.
   */
  measure(
    runtime: Runtime<FileCalls>,
    place: string,
    isQuick: boolean,
  ): Promise<Readonly<Record<string, number>>>;
}

/** Number of adds for which the wake-up is measured, and the milliseconds between them. */
const [ADDS, PAUSE] = [400, 20];
/** Milliseconds for which the wake-ups of an idle process are counted, and milliseconds before that. */
const [IDLE, SETTLE] = [10_000, 2000];
/** Milliseconds for which adds are made, and for which a file is locked. */
const [ADDING, LOCKED] = [10_000, 2000];
/** Bounds: milliseconds until a handler begins, wake-ups per second, and milliseconds of a turn. */
const [MAX_WAKE_UP, MAX_WAKE_UPS, MAX_TURN] = [20, 5, 50];

/** Folder of Linux whose files are in memory. */
const MEMORY = "/dev/shm";
/** Milliseconds between two wake-ups of a process that has only a timer. */
const TICK = 250;

/** Measurements by short name. */
export const probes: Readonly<Record<string, Probe>> = {
  wakeUp: {
    title: "from an add in one process until the handler begins in another, idle process",
    note:
      `${ADDS} adds, one after the other, each on the disk, ${PAUSE} ms apart. The first tenth is left out, because ` +
      "code is still being compiled.",
    unit: "ms",
    rounds: FEW_ROUNDS,
    bounds: [{ contender: "99th percentile", atMost: MAX_WAKE_UP }],
    async measure(runtime, place, isQuick) {
      await using producer = runtime.start();
      await using worker = runtime.start();
      const times = isQuick ? ADDS / 20 : ADDS;
      const queue = { contender: OURS, place, queue: "wake-ups", payload: 0 };
      const { median, p99, worst } = await measureLateness({ producer, worker }, queue, times, () => {
        return producer.call("poke", { times, pause: PAUSE });
      });
      return { median, "99th percentile": p99, longest: worst };
    },
  },
  idle: {
    title: "wake-ups of an idle process",
    note:
      `Voluntary context switches of all threads, which Linux counts when a thread begins to wait, over ${
        IDLE / 1000
      } s. The worker process has ten workers, and the queue is empty. Runtimes switch more than once when a timer fires, ` +
      "so the bounded figure is in wake-ups by a timer: the switches of the worker process divided by those of a process " +
      "with one timer, times how often that fires, each without the switches of a process that does nothing. The file is " +
      "in memory, because a thread that waits for the disk switches too.",
    unit: "a second",
    rounds: FEW_ROUNDS,
    bounds: [{ contender: "wake-ups by a timer", atMost: MAX_WAKE_UPS, unit: "a second" }],
    async measure(runtime, _, isQuick) {
      if (Deno.build.os !== "linux") return {};
      await using stack = new AsyncDisposableStack();
      const folder = await Deno.makeTempDir({ dir: MEMORY, prefix: "workqueue_" });
      stack.defer(() => Deno.remove(folder, { recursive: true }));
      await using nothing = runtime.start();
      await using ticking = runtime.start();
      await using worker = runtime.start();
      await worker.call("open", { contender: OURS, place: `${folder}/idle.db`, queue: "idle", payload: 0 });
      await worker.call("work", { concurrency: 10 });
      await nothing.call("count");
      await ticking.call("tick", { every: TICK });
      await new Promise((resolve) => setTimeout(resolve, SETTLE));
      const duration = isQuick ? IDLE / 10 : IDLE;
      const all = await Promise.all([nothing, ticking, worker].map(({ pid }) => measureWakeUps(pid, duration)));
      const [ofNothing, ofTimer, ofWorker] = all as [number, number, number];
      return {
        "wake-ups by a timer": (ofWorker - ofNothing) / (ofTimer - ofNothing) * 1000 / TICK,
        "context switches of a worker process": ofWorker,
        [`context switches of a process with a timer that fires every ${TICK} ms`]: ofTimer,
        "context switches of a process that does nothing": ofNothing,
      };
    },
  },
  standstill: {
    title: "longest turn of the event loop",
    note:
      `Adds on the disk, 100 at once, for ${ADDING / 1000} s; and 100 adds that wait for ${
        LOCKED / 1000
      } s, because a ` +
      "transaction of another connection is open. Turns include garbage collection, and the time in which other " +
      "processes had the CPU or the disk.",
    unit: "ms",
    rounds: FEW_ROUNDS,
    bounds: [{ contender: "while the file is locked", atMost: MAX_TURN }],
    async measure(runtime, place, isQuick) {
      await using agent = runtime.start();
      const part = isQuick ? 0.05 : 1;
      const figures = {
        "while the file is locked": await agent.call("measureLocked", { place, duration: LOCKED * part }),
        "while items are added": await agent.call("measureAdding", { place, duration: ADDING * part }),
      };
      if (!runtimesOf(IN_THREAD).includes(runtime.id)) return figures;
      const inThread = await agent.call("measureAdding", { place, duration: ADDING * part, thread: true });
      return { ...figures, "while items are added, `thread: true`": inThread };
    },
  },
};
