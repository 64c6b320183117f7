const probe: string = "jsr:@std/assert@^1"; // a variable, so that this file loads where the package does not

/** Whether JSR answers, so that the real `@std` packages can be used. */
export const isJsrReachable: boolean = await import(probe).then(() => true, () => false);

/** The arguments with which Deno uses the stand-ins of `std/` where JSR does not answer. */
export const stdArguments: readonly string[] = isJsrReachable ? [] : ["--import-map", "tests/std/import_map.json"];
