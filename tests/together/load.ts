/**
 * Loads test files into one isolate, one after the other. The files share the modules that they import, and the code
 * that V8 has compiled. On its own, each test file would load all of them again, which takes 0.1 to 0.5 seconds.
 * So each test must leave global state as it was.
 */

/**
 * Loads one of the slices into which the test files are divided, because each module that `deno test` runs at a time
 * has one slice. The slices are numbered from 0. The arguments of the process are the number of slices and the files.
 */
export async function loadSlice(index: number): Promise<void> {
  const [slices, ...files] = Deno.args;
  for (const [i, file] of files.entries()) {
    if (i % Number(slices) === index) await import(new URL(`../../${file}`, import.meta.url).href);
  }
}
