/** Helper for tests that need a program which may not be installed. */

/** Runs a program to its end. Returns its standard output, or `undefined` if it fails or is not installed. */
export async function outputOf(program: string, ...args: readonly string[]): Promise<string | undefined> {
  try {
    // `output` throws, and does not reject, if there is no such program.
    const { success, stdout } = await new Deno.Command(program, { args: [...args], stdin: "null" }).output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether GNU parallel is installed, and not another program of this name. */
export async function hasGnuParallel(): Promise<boolean> {
  return (await outputOf("parallel", "--version"))?.startsWith("GNU") === true;
}
