/** Tests of the command on a terminal. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { isRunning, isStopped, runtimes, until, Workspace } from "./cli.ts";
import { hasTmux, INTERACTIVE_SHELL, Tmux, type View } from "./tmux.ts";
import { hasPseudoTerminals, PseudoTerminal } from "./pseudo_terminal.ts";

const ignore = !hasPseudoTerminals;

/** Script that fails with an error message for every third item. For the other items, it waits for the file `go`. */
const DATABASE = `case $1 in */3|*/6|*/9) echo 'psql: connection refused: db down' >&2; exit 2;; esac
until [ -e go ]; do sleep 0.02; done; echo "$1 done"`;

/**
 * Writes a list of items, and a config that delays failed items by one minute. Returns arguments that run `sh -c` for
 * each item.
 */
function prepare(workspace: Workspace, script: string, items = 9, concurrency = 9): string[] {
  const limiter = { type: "exponential", baseDelay: "1m", maxDelay: "1m" };
  workspace.write("config.json", JSON.stringify({ queues: { slow: { limiter } } }));
  workspace.write("list", Array.from({ length: items }, (_, i) => `db/${i + 1}\n`).join(""));
  const options = ["--config", "config.json", "--input", "list", "--concurrency", String(concurrency)];
  return ["run", ...options, "--", "sh", "-c", script, "sh", "{}"];
}

/** Returns the non-empty rows. */
const filled = (rows: string[]) => rows.filter((row) => row !== "");

const REASON = /^✗ psql: connection refused: db down \(db\/[369], attempt 1\)$/;
const THREE_FAIL = /^3 failing now · nothing is succeeding · next retry in (1 min 0 s|\d\d s)$/;
/** Standard error output of the three failing items, shown above the rows. */
const ERRORS = [3, 6, 9].map((i) => `db/${i} | psql: connection refused: db down`);
/**
 * Progress of the nine items. A frame that was drawn before the input was read shows `0 of 9+`, after which the count
 * keeps the width of that text.
 */
const SIX_RUN = /0 of 9 +· 6 running/;
const threeHaveFailed = (rows: string[]) => rows[3] === "" && THREE_FAIL.test(rows[5]!) && SIX_RUN.test(rows[6]!);
const sixAreDone = (rows: string[]) => rows.some((row) => /66 % {2}6 of 9/.test(row));
const DONE = [1, 2, 4, 5, 7, 8].map((i) => `db/${i} done`);

Deno.test({
  name: "terminal: a user sees why items fail, how many fail, a bar and the numbers",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, DATABASE));
    const { screen } = terminal;
    await terminal.until(threeHaveFailed, "three have failed");
    assertEquals(screen.rows.slice(0, 3).sort(), ERRORS);
    assertMatch(screen.rows[4]!, REASON);
    assertMatch(screen.rows[6]!, /^░{20} {3}0 % {2}0 of 9 +· 6 running/);
    assertEquals(filled(screen.rows).length, 6);
    assertEquals([screen.colorOf("3 failing"), screen.colorOf("6 running")], [1, undefined]); // red

    workspace.write("go", "");
    await terminal.until(sixAreDone, "six are done");
    assertEquals(screen.rows.slice(3, 9).sort(), DONE);
    assertMatch(screen.rows[10]!, REASON);
    assertMatch(screen.rows[12]!, /^█{13}░{7} {2}66 % {2}6 of 9/);
    assertEquals(filled(screen.rows).length, 12);
  },
});

Deno.test({
  name: "terminal: rows of a worker show finished, running and waiting items, and errors",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    await workspace.run(["push", "--queue", "jobs.db"], Array.from({ length: 9 }, (_, i) => `db/${i + 1}\n`).join(""));
    const options = ["--queue", "jobs.db", "--concurrency", "5", "--retries", "1", "--backoff", "10m..10m"];
    const args = ["work", ...options, "--", "sh", "-c", DATABASE, "sh", "{}"];
    await using terminal = await PseudoTerminal.start(workspace, args);
    const { screen } = terminal;
    await terminal.until(
      (rows) =>
        rows.some((row) => /^0 done · 5 running · .*\d waiting/.test(row)) && rows.some((row) => REASON.test(row)),
      "five run",
    );
    await terminal.until((rows) => rows.some((row) => /[12] failing now/.test(row)), "the queue has been looked at");
    workspace.write("go", "");
    await terminal.until(
      (rows) => rows.some((row) => /^6 done · 0 running · .*3 waiting$/.test(row)),
      "the rest waits",
    );
    assertEquals(filled(screen.rows).filter((row) => row.includes("left")), []);
    await terminal.type("\x03");
    assertEquals(await terminal.ended, 130);
  },
});

for (const command of ["run", "run --quiet", "run --queue jobs.db", "work --queue jobs.db --until-empty"]) {
  Deno.test({
    name: `terminal: ${command} shows the errors of commands, with their items`,
    ignore,
    async fn() {
      await using workspace = new Workspace();
      const isWorker = command.startsWith("work");
      if (isWorker) await workspace.run(["push", "--queue", "jobs.db"], "a\nb\n");
      const script = ["-j1", "--", "sh", "-c", 'echo "disk nearly full" >&2', "sh", "{}"];
      const items = isWorker ? [] : [":::", "a", "b"];
      await using terminal = await PseudoTerminal.start(workspace, [...command.split(" "), ...script, ...items]);
      assertEquals(await terminal.ended, 0);
      const errors = terminal.screen.lines.filter((line) => line.includes("disk nearly full"));
      assertEquals(errors.map((line) => line.split(/\s+(?:\| )?/)[0]), ["a", "b"], terminal.screen.lines.join("\n"));
    },
  });
}

Deno.test({
  name: "terminal: output is whole and in order above the rows, and nothing else stays",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    const script = "seq 30000; until [ -e go ]; do sleep 0.02; done; echo last";
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, script, 1));
    await terminal.until((rows) => rows[21] === "30000" && /0 of 1 +· 1 running/.test(rows[23]!), "all is printed");
    workspace.write("go", "");
    assertEquals(await terminal.ended, 0);
    const { lines } = terminal.screen;
    assertEquals(lines.slice(0, 30_000), Array.from({ length: 30_000 }, (_, i) => String(i + 1)));
    assertEquals(lines[30_000], "last");
    assertMatch(lines[30_001]!, /^Distinct items {5}1$/);
    assertEquals(lines.filter((line) => /█|░|running/.test(line)), []);
  },
});

Deno.test({
  name: "terminal: standard error of children is above the rows, after the name of the item",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    const script = "echo to output; echo one >&2; echo two >&2; until [ -e go ]; do sleep 0.02; done";
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, script, 1));
    const shown = ["db/1 | one", "db/1 | two", "to output"];
    await terminal.until((rows) => shown.every((line) => rows.slice(0, 3).includes(line)), "all is there");
    workspace.write("go", "");
    assertEquals(await terminal.ended, 0);
    assertEquals(terminal.screen.lines.slice(0, 3).sort(), shown);
  },
});

Deno.test({
  name: "terminal: making it wider, lower and higher leaves nothing behind",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    const size = { columns: 50 };
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, DATABASE), size);
    await terminal.until((rows) => ERRORS.every((error) => rows.includes(error)), "three have failed");
    for (const [columns, rows] of [[60, 24], [100, 24], [100, 8], [100, 30]] as const) {
      await terminal.resize(columns, rows);
      const reason = columns > 60 ? REASON : /^✗ psql: connection refused: db down$/;
      await terminal.until((seen) => {
        const shown = filled(seen).slice(-3);
        return reason.test(shown[0]!) && shown[2]!.includes("6 running");
      }, `it is shown in ${columns} × ${rows}`);
    }
    workspace.write("go", "");
    await terminal.until(sixAreDone, "six are done");
    const { lines } = terminal.screen;
    assertEquals([lines.slice(0, 3).sort(), lines.slice(3, 9).sort(), lines.length], [ERRORS, DONE, 3 + 6 + 4]);
  },
});

Deno.test({
  name: "terminal: making it narrower leaves nothing behind in tmux, which wraps existing rows",
  ignore: !hasTmux,
  async fn() {
    await using workspace = new Workspace();
    const script = `[ $1 != db/1 ] || seq 30; ${DATABASE}`; // fills the window
    await using tmux = await Tmux.start(workspace, prepare(workspace, script));
    const above = [...Array.from({ length: 30 }, (_, i) => String(i + 1)), ...ERRORS].sort();
    const shows = (columns: number, rows: number, reason: RegExp) =>
      tmux.until(({ all }) => {
        const shown = filled(all).slice(-3);
        return reason.test(shown[0]!) && shown[2]!.includes("0 of 9") && shown.every((row) => row.length < columns);
      }, `it is shown in ${columns} × ${rows}`);
    const { all } = await tmux.until(({ screen }) => threeHaveFailed(screen.slice(-8)), "three have failed");
    assertEquals([all.slice(0, 33).sort(), filled(all).length], [above, 33 + 3]);
    for (const [columns, rows] of [[50, 24], [30, 24], [100, 24], [45, 12]] as const) {
      await tmux.resize(columns, rows);
      await shows(columns, rows, columns === 100 ? REASON : columns === 30 ? /^✗ psql: c/ : /^✗ psql: conn/);
    }
    await tmux.resize(100, 24);
    workspace.write("go", "");
    const view = await tmux.until(({ screen }) => sixAreDone(screen), "six are done");
    assertEquals([view.all.slice(0, 33).sort(), view.all.slice(33, 39).sort(), filled(view.all).length], [
      above,
      DONE,
      33 + 6 + 3,
    ]);
  },
});

Deno.test({
  name: "terminal: a tiny terminal shows what matters most",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    const size = { columns: 20, rows: 3 };
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, DATABASE), size);
    await terminal.until((rows) => /^✗ psql: co… db down$/.test(rows[1]!), "the reason is there");
    await terminal.until((rows) => /^ {2}0 % {2}0 of 9/.test(rows[2]!), "the numbers are there");
    await terminal.until(() => ERRORS.every((error) => terminal.screen.lines.includes(error)), "three have failed");
    workspace.write("go", "");
    await terminal.until((rows) => /done$/.test(rows[0]!) && sixAreDone(rows), "output is above");
    const { lines } = terminal.screen;
    assertEquals([lines.slice(0, 3).sort(), lines.slice(3, 9).sort(), lines.length], [ERRORS, DONE, 3 + 6 + 2]);
  },
});

Deno.test({
  name: "terminal: an interrupted run says what it waits for, and shows the cursor again",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, DATABASE));
    await terminal.until(threeHaveFailed, "three have failed");
    await terminal.type("\x03");
    await terminal.until(
      (rows) => rows.some((row) => /0 of 9 +· stopping, 6 still running$/.test(row)),
      "it says so",
    );
    const note = "Interrupted: waiting for 6 running commands. Press Ctrl-C again to kill them.";
    await terminal.until((rows) => rows.some((row) => row.includes(note)), "another Ctrl-C would kill them");
    const rows = filled(terminal.screen.rows);
    // No further attempts start.
    assert(rows.some((row) => row === "3 failing now · nothing is succeeding"), "no next retry");
    await terminal.type("\x03");
    assertEquals(await terminal.ended, 130);
    assertEquals(terminal.screen.lines.filter((line) => /░|✗/.test(line)), []);
    assert(!terminal.output.includes("\x1b[?25l"), "the cursor is never hidden");
  },
});

Deno.test({
  name: "terminal: after a killed run, the cursor is visible, and the terminal wraps lines",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, `echo $$ > child; ${DATABASE}`, 1));
    await terminal.until((rows) => rows[1]!.includes("1 running"), "it runs");
    terminal.kill("SIGKILL");
    await terminal.ended;
    workspace.write("go", ""); // lets the running child finish
    assert(!terminal.output.includes("\x1b[?25l"));
    const on = (mode: string) => terminal.output.lastIndexOf(`\x1b[?${mode}h`);
    const off = (mode: string) => terminal.output.lastIndexOf(`\x1b[?${mode}l`);
    assert(on("7") > off("7"), "it wraps lines");
    assert(off("2026") > on("2026"), "it shows what is written");
    await until(async () => !await isRunning(workspace.read("child")), "the child has ended");
  },
});

Deno.test({
  name: "terminal: redirected output is redirected, and the rows are still shown",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    workspace.write("go", "");
    const redirect = { redirect: "> output" };
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, DATABASE), redirect);
    await terminal.until(sixAreDone, "six are done");
    assertEquals(filled(terminal.screen.rows).length, 3 + 3);
    assertEquals(workspace.read("output").trimEnd().split("\n").sort(), DONE);
  },
});

Deno.test({
  name: "terminal: there are no colors if they are disabled, and no rows if they can't be shown",
  ignore,
  async fn() {
    await using workspace = new Workspace();
    const args = prepare(workspace, DATABASE);
    {
      await using terminal = await PseudoTerminal.start(workspace, args, { env: { NO_COLOR: "1" } });
      await terminal.until(threeHaveFailed, "three have failed");
      // deno-lint-ignore no-control-regex -- control characters control terminals
      assertEquals(terminal.output.match(/\x1b\[[1-9][\d;]*m/), null);
    }
    for (const env of [{ TERM: "dumb" }, { CI: "true" }]) {
      await using terminal = await PseudoTerminal.start(workspace, args, { env });
      await terminal.until(
        (rows) => rows[0]!.startsWith("0 of 9 done, ") && rows.some((row) => row.startsWith("0 of 9 done, 6 running")),
        "there is a plain line",
      );
      assert(!terminal.output.includes("\x1b[?2026"));
    }
  },
});

Deno.test({
  name: "terminal: on Bun, the display looks the same",
  ignore,
  async fn() {
    await using workspace = new Workspace("Bun");
    await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, DATABASE));
    await terminal.until(threeHaveFailed, "three have failed");
    await terminal.resize(100, 30);
    await terminal.until((rows) => threeHaveFailed(rows) && rows[6]!.startsWith("░".repeat(20)), "it is wider");
    workspace.write("go", "");
    await terminal.until(sixAreDone, "six are done");
    assertEquals(filled(terminal.screen.rows).length, 3 + 6 + 3);
  },
});

Deno.test({
  name: "terminal: the dashboard's address stays above the other rows, or is printed once if it does not fit",
  ignore,
  async fn() {
    for (const [columns, isKept] of [[80, true], [60, false]] as const) {
      await using workspace = new Workspace();
      const script = "seq 100; until [ -e go ]; do sleep 0.02; done";
      const args = ["run", "--serve", ...prepare(workspace, script, 1).slice(1)];
      await using terminal = await PseudoTerminal.start(workspace, args, { columns });
      await terminal.until((rows) => rows.includes("100") && /0 of 1 +· 1 running/.test(rows[23]!), "all is printed");
      const isAddress = (line: string) => /^Dashboard: http:.{55}/.test(line.replaceAll("\n", ""));
      assertEquals(terminal.screen.rows.some(isAddress), isKept);
      workspace.write("go", "");
      assertEquals(await terminal.ended, 0);
      assertEquals(terminal.screen.lines.some((line) => line.startsWith("Dashboard: http:")), !isKept);
    }
  },
});

/** Script that writes the process id of its child, and ends when this child is killed. */
const SLEEPER = 'echo "$1 begins"; sleep 300 & echo $! > child; wait $!; echo "$1 ends"';

for (const runtime of Object.keys(runtimes)) {
  Deno.test({
    name: `terminal, ${runtime}: Ctrl-Z stops running commands and erases the rows, and fg restores them`,
    ignore,
    async fn() {
      await using workspace = new Workspace(runtime);
      const afterStop = "echo stopped; until [ -e back ]; do sleep 0.02; done; fg";
      await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, SLEEPER, 1), { afterStop });
      const isShown = (rows: string[]) =>
        rows.includes("db/1 begins") && rows.some((row) => /0 of 1 +· 1 runn/.test(row));
      await terminal.until(isShown, "it runs");
      const pids = [workspace.read("pid"), workspace.read("child")];
      await terminal.type("\x1a");
      for (const pid of pids) await until(() => isStopped(pid), `${pid} is stopped`);
      await terminal.until((rows) => rows.includes("stopped"), "the shell continues");
      assertEquals(filled(terminal.screen.rows).filter((row) => !row.includes("Stopped")), ["db/1 begins", "stopped"]);
      workspace.write("back", "");
      await terminal.until(isShown, "the rows are back");
      Deno.kill(Number(workspace.read("child")), "SIGKILL");
      assertEquals(await terminal.ended, 0);
      assert(terminal.screen.lines.includes("db/1 ends"));
      assertEquals(terminal.screen.lines.filter((line) => line.includes("0 of 1")), []);
    },
  });

  Deno.test({
    name: `terminal, ${runtime}: without a shell that could continue the command, Ctrl-Z does not stop it`,
    ignore: !hasPseudoTerminals || Deno.build.os !== "linux",
    async fn() {
      await using workspace = new Workspace(runtime);
      await using terminal = await PseudoTerminal.start(workspace, prepare(workspace, SLEEPER, 1));
      await terminal.until((rows) => rows.some((row) => /0 of 1 +· 1 runn/.test(row)), "it runs");
      await terminal.type("\x1a\x03");
      await terminal.until((rows) => rows.some((row) => row.startsWith("Interrupted")), "Ctrl-C still works");
      Deno.kill(Number(workspace.read("child")), "SIGKILL");
      assertEquals(await terminal.ended, 130);
    },
  });

  Deno.test({
    name: `terminal, ${runtime}: after Ctrl-Z, a shell in tmux asks for the next command, and fg continues`,
    ignore: !hasTmux,
    async fn() {
      await using workspace = new Workspace(runtime);
      await using tmux = await Tmux.start(workspace, prepare(workspace, SLEEPER, 1), INTERACTIVE_SHELL);
      try {
        const isShown = ({ all }: View) => /0 of 1 +· 1 runn/.test(filled(all).at(-1) ?? "");
        await tmux.until(({ all }) => filled(all).at(-1) === "$", "the shell asks");
        await tmux.press("workqueue", "Enter");
        await tmux.until((view) => isShown(view) && view.all.includes("db/1 begins"), "it runs");
        await tmux.press("C-z");
        const { all } = await tmux.until(({ all }) => filled(all).at(-1) === "$", "the shell asks");
        assertEquals(filled(all).slice(0, 2), ["$ workqueue", "db/1 begins"]);
        assertEquals(all.filter((row) => row.includes("0 of 1")), []);
        await until(() => isStopped(workspace.read("child")), "the child is stopped");
        await tmux.press("fg", "Enter");
        await tmux.until(isShown, "it runs again");
        Deno.kill(Number(workspace.read("child")), "SIGKILL");
        await tmux.until(({ all }) => all.includes("db/1 ends") && filled(all).at(-1) === "$", "it has ended");
      } finally {
        await tmux.press("exit || exit", "Enter");
      }
    },
  });
}
