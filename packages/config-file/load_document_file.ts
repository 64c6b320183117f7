import { ConfigFile } from "./config_file.ts";

/**
 * Loads a file with a document of another kind than a config, such as a load of `@workqueue/simulate`. The extension
 * determines the format: `.json`, `.jsonc`, `.yaml`, `.yml` or `.toml`.
 *
 * @example Usage
 * ```ts
 * import { loadDocumentFile } from "@workqueue/config-file";
 * import { checkLoad } from "@workqueue/simulate";
 *
 * const { trace } = loadDocumentFile("examples/outage.yaml", "load document", checkLoad);
 * ```
 *
 * @param path The path of the file, or a `file:` URL.
 * @param word The word for the document in messages, such as `load document`.
 * @param read Reads the parsed document.
 * @returns The result of `read`.
 * @throws {ConfigError} If the file is not valid in its format, or `read` throws this error. The error includes the
 * line and the column of each problem.
 * @throws {Error} If the extension is not supported or the file can't be read.
 * @throws {TypeError} If `path` is neither a non-empty string nor a `file:` URL.
 */
export function loadDocumentFile<R>(path: string | URL, word: string, read: (document: object) => R): R {
  const file = new ConfigFile(path, word);
  return file.content.run("read", file.read(), read);
}
