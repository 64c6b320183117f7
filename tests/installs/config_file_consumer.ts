/**
 * Program of a user who has just installed the config file package. Every runtime runs the program in an empty folder.
 */

import { type ConfigChange, ConfigError, loadConfig } from "@workqueue/core";
import { loadConfigFile, readConfigFile, watchConfigFile } from "@workqueue/config-file";

interface Files {
  writeFileSync(path: string, text: string): void;
}

declare const process: { getBuiltinModule(name: "node:fs"): Files }; // in case Node's types are missing

const { writeFileSync } = process.getBuiltinModule("node:fs");

const texts: Record<string, string> = {
  "a.json": '{ "queues": { "images": { "concurrency": 4 } } }',
  "a.jsonc": '{ "queues": { "images": { "concurrency": 4, } } }',
  "a.yaml": "queues: { images: { concurrency: 4 } }",
  "a.toml": "queues.images.concurrency = 4",
};
const concurrency = Object.entries(texts).map(([path, text]) => {
  writeFileSync(path, text);
  return loadConfigFile(path).workers("images").concurrency;
});
const isReadable = loadConfig(readConfigFile("a.json")).workers("images").concurrency === 4;

const config = loadConfigFile("a.yaml");
const changes: ConfigChange[] = [];
const alive = setInterval(() => {}, 1000); // a watch alone doesn't keep the process alive
const error = await new Promise((resolve) => {
  watchConfigFile("a.yaml", config, {
    onReload(some) {
      changes.push(...some);
      writeFileSync("a.yaml", "queues: { images: { concurrency: many } }");
    },
    onError: resolve,
  });
  writeFileSync("a.yaml", "queues: { images: { concurrency: 8 } }");
});
clearInterval(alive);

console.log(JSON.stringify({ concurrency, isReadable, changes, isOurs: error instanceof ConfigError }));
