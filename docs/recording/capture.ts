import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** Size of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Text that was written to a terminal. */
export interface Write {
  /** Seconds since the first write. */
  readonly at: number;
  readonly text: string;
}

/** Output of a program on a terminal. */
export interface Capture {
  readonly size: Size;
  readonly writes: readonly Write[];
}

/**
 * Runs a program on a pseudoterminal, which the `script` command from util-linux creates.
 *
 * @param command The program, as a shell command.
 * @param size The size of the terminal.
 * @returns The output of the program.
 * @throws {Error} If the program ends with an exit code other than 0.
 */
export async function capture(command: string, size: Size): Promise<Capture> {
  const line = `stty cols ${size.columns} rows ${size.rows}; exec ${command}`;
  const env = { ...process.env, SHELL: "/bin/sh", TERM: "xterm-256color", CI: "", NO_COLOR: "" };
  const script = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "inherit"], // standard input stays open: `script` ends when its input closes
  });
  const writes: Write[] = [];
  let start: number | undefined;
  script.stdout.setEncoding("utf8").on("data", (text: string) => {
    const now = performance.now();
    start ??= now;
    writes.push({ at: (now - start) / 1000, text });
  });
  const [exitCode] = await once(script, "close");
  if (exitCode !== 0) throw new Error(`Cannot record '${command}': it ended with ${exitCode}`);
  return { size, writes };
}
