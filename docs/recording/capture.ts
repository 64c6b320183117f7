import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** How large a terminal is. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Something that was written to a terminal. */
export interface Write {
  /** When, in seconds from the first write on. */
  readonly at: number;
  readonly text: string;
}

/** What a program wrote to a terminal. */
export interface Capture {
  readonly size: Size;
  readonly writes: readonly Write[];
}

/**
 * Runs a program on a pseudo-terminal, which `script` of util-linux makes.
 *
 * @param command The program, as a shell takes it.
 * @param size How large the terminal is.
 * @returns What it wrote there, until it ended.
 * @throws {Error} If it ended with another exit code than 0.
 */
export async function capture(command: string, size: Size): Promise<Capture> {
  const line = `stty cols ${size.columns} rows ${size.rows}; exec ${command}`;
  const env = { ...process.env, SHELL: "/bin/sh", TERM: "xterm-256color", CI: "", NO_COLOR: "" };
  const script = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "inherit"], // its standard input stays open: where it ends, so does the terminal
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
