/** Script that runs limiters without a queue, under a clock that the test sets. */

import { lua } from "../../packages/redis/scripts/lua_files.ts";
import type { LimiterRunner, Step } from "../contracts/limiter_steps.ts";
import { type Client, connectClient } from "./server.ts";

/**
 * Lua script that runs steps in order, each at its own time. Numbers are returned as strings, because Redis truncates
 * numbers to integers.
 */
const SCRIPT = `
local prefix = string.sub(KEYS[1], 1, -5)
local now
${lua("limiters")}
local function text(value)
  return type(value) == 'number' and string.format('%.17g', value) or value or false
end
local answers = {}
for i, step in ipairs(cjson.decode(ARGV[1])) do
  local what, time, a, b, c, d, e = unpack(step)
  now = time
  local answer, more
  if what == 'when' then answer, more = limiters().when(cjson.decode(a), b, limiters().input(c), d or now, e or 0)
  elseif what == 'when by hand' then answer, more = limiters().when(cjson.decode(a), b, limiters().input(c), nil, d or 0)
  elseif what == 'requeues' then answer = limiters().requeues(cjson.decode(a), b)
  elseif what == 'forget' then limiter_forget(a)
  elseif what == 'failures' then answers[i] = failures_of(a)
  elseif what == 'take' then answer, more = limiters().tokens_take(a, tonumber(b), tonumber(c), d)
  elseif what == 'give back' then limiters().tokens_give_back(a, tonumber(b), tonumber(c), d) end
  answers[i] = answers[i] or { text(answer), text(more) }
end
return answers
`;

/** Runner of limiter steps on the hashes of a queue. */
export class LimiterScript implements LimiterRunner {
  readonly #client: Client;
  readonly prefix: string;

  private constructor(client: Client, name: string) {
    this.#client = client;
    this.prefix = `workqueue:{${name}}:`;
  }

  static async connect(url: string, name: string): Promise<LimiterScript> {
    const client = await connectClient(url);
    return new LimiterScript(client, name);
  }

  async run(...steps: Step[]): Promise<(number | undefined)[][]> {
    const answers = await this.call("EVAL", SCRIPT, "1", `${this.prefix}meta`, JSON.stringify(steps));
    return (answers as (string | number | null)[][]).map((answer) =>
      answer.map((each) => each === null ? undefined : Number(each))
    );
  }

  /** Runs steps and returns the first answer to each step. */
  async firsts(...steps: Step[]): Promise<(number | undefined)[]> {
    return (await this.run(...steps)).map(([answer]) => answer);
  }

  /** Runs one step and returns its first answer. */
  async one(...step: Step): Promise<number | undefined> {
    return (await this.firsts(step))[0];
  }

  /** Runs a command on one of the hashes. */
  async hash(command: string, name: string, ...rest: string[]): Promise<unknown> {
    return await this.call(command, this.prefix + name, ...rest);
  }

  async call(...command: string[]): Promise<unknown> {
    return await this.#client.sendCommand(command);
  }

  async clear(): Promise<void> {
    await this.call("DEL", ...["failures", "failing", "buckets"].map((name) => this.prefix + name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
    this.#client.destroy();
  }
}
