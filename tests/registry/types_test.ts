/** Compile-time checks. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type BuildContext,
  ConfigError,
  defineLimiter,
  type Duration,
  type Field,
  type LimiterConfig,
  type LimiterFields,
  type LimiterInputs,
  type LimiterOptions,
  limiters,
  type LoadConfigOptions,
  type OptionsInCode,
  type OptionsInput,
  type PartContext,
  type Rate,
  type RateLimiter,
  type Template,
} from "@workqueue/core";
import { partContextOf } from "@workqueue/core/internal/registry";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { assertType, type Same } from "../helpers.ts";
import { CONSTANT, parts } from "./parts.ts";

const LINEAR = {
  step: { kind: "duration", description: "" },
  max: { kind: "integer", description: "", default: 3 },
  scale: { kind: "number", description: "", required: false },
  label: { kind: "string", description: "" },
  strict: { kind: "boolean", description: "" },
  mode: { kind: "enum", description: "", values: ["up", "down"] },
  inner: { kind: "limiter", description: "" },
  others: { kind: "limiters", description: "", required: false },
} as const satisfies LimiterFields;

Deno.test("types: create receives the checked options, with the declared types", () => {
  assertType<
    Same<LimiterOptions<typeof LINEAR>, {
      readonly step: number;
      readonly max: number;
      readonly scale: number | undefined;
      readonly label: string;
      readonly strict: boolean;
      readonly mode: "up" | "down";
      readonly inner: RateLimiter;
      readonly others: readonly RateLimiter[] | undefined;
    }>
  >();
  const definition = defineLimiter({
    type: "linear",
    description: "",
    options: LINEAR,
    check(options) {
      assertType<Same<typeof options.step, number>>();
      assertType<Same<typeof options.mode, "up" | "down">>();
      // @ts-expect-error: `check` runs before the inner limiter is built
      return options.inner;
    },
    create(options, context) {
      assertType<Same<typeof options, LimiterOptions<typeof LINEAR>>>();
      assertType<Same<typeof context, PartContext>>();
      // @ts-expect-error: there is no such option
      return options.stepp ?? CONSTANT;
    },
  });
  assertType<Same<typeof definition.type, "linear">>();
});

Deno.test("types: options are declared inline, without 'as const'", () => {
  const definition = defineLimiter({
    type: "inline",
    description: "",
    options: {
      mode: { kind: "enum", values: ["up", "down"], description: "" },
      n: { kind: "integer", description: "", default: 1 },
    },
    create({ mode, n }) {
      assertType<Same<typeof mode, "up" | "down">>();
      assertType<Same<typeof n, number>>();
      return CONSTANT;
    },
  });
  assertEquals(new LimiterRegistry().register(definition).build({ type: "inline", mode: "up" }).when("a"), 7);
});

Deno.test("types: a config has the declared options, and may omit options with a default", () => {
  type Input = OptionsInput<typeof LINEAR, LimiterInputs>;
  assertType<Same<Input["step"], Duration>>();
  assertType<Same<Input["max"], number | undefined>>();
  assertType<Same<Input["mode"], "up" | "down">>();
  assertType<Same<Input["inner"], LimiterConfig>>();
  const input: Input = { step: "1s", label: "", strict: true, mode: "up", inner: "name" };
  // @ts-expect-error: 'step' is missing
  const missing: Input = { label: "", strict: true, mode: "up", inner: "name" };
  // @ts-expect-error: there is no such mode
  const wrong: Input = { ...input, mode: "sideways" };
  assertEquals([input.step, missing.step, wrong.step], ["1s", undefined, "1s"]);
});

Deno.test("types: a template is a config inside a config, and a function for create and in code", () => {
  const options = {
    each: { kind: "limiter", template: true, description: "" },
    longest: { kind: "duration", infinite: true, description: "" },
    shares: { kind: "weights", required: false, description: "" },
    pauses: { kind: "durations", minItems: 1, description: "" },
    more: { kind: "durations", default: ["1s"], description: "" },
    speed: { kind: "rate", required: false, description: "" },
  } as const;
  defineLimiter({
    type: "grouping",
    description: "",
    options,
    create({ each, longest, shares, pauses, more, speed }) {
      assertType<Same<typeof each, Template<RateLimiter>>>();
      assertType<Same<typeof longest, number>>();
      assertType<Same<typeof shares, ReadonlyMap<string, number> | undefined>>();
      assertType<Same<typeof pauses, readonly number[]>>();
      assertType<Same<typeof more, readonly number[]>>();
      assertType<Same<typeof speed, Rate | undefined>>();
      return each();
    },
  });
  type Input = OptionsInput<typeof options, LimiterInputs>;
  type InCode = OptionsInCode<typeof options, { limiter: RateLimiter }>;
  assertType<Same<Input["each"], Exclude<LimiterConfig, string>>>();
  assertType<Same<InCode["each"], () => RateLimiter>>();
  assertType<Same<InCode["longest"], Duration>>();
  assertType<Same<Input["pauses"], readonly Duration[]>>();
  assertType<Same<InCode["pauses"], readonly Duration[]>>();
  assertType<Same<InCode["more"], readonly Duration[] | undefined>>();
  assertType<Same<InCode["speed"], Rate | undefined>>();
  assertType<Same<InCode["shares"], Readonly<Record<string, number>> | undefined>>();
});

Deno.test("types: update receives the result of create, and the options that create receives", () => {
  class Steady implements RateLimiter {
    constructor(public delay: number) {}
    when = () => this.delay;
    forget() {}
    numRequeues = () => 0;
  }
  const steady = defineLimiter({
    type: "steady",
    description: "",
    options: {
      delay: { kind: "duration", description: "" },
      note: { kind: "string", required: false, description: "" },
      each: { kind: "limiter", template: true, description: "" },
    },
    create: ({ delay }) => new Steady(delay),
    update(limiter, { delay, note, each }, context) {
      assertType<Same<typeof limiter, Steady>>();
      assertType<Same<typeof delay, number>>();
      assertType<Same<typeof note, string | undefined>>();
      assertType<Same<typeof each, Template<RateLimiter>>>();
      assertType<Same<typeof context, PartContext>>();
      limiter.delay = delay;
    },
  });
  const each = () => new Steady(0);
  const limiter = steady.create({ delay: 1, note: undefined, each }, partContextOf({}));
  assertType<Same<typeof limiter, Steady>>();
  steady.update!(limiter, { delay: 2, note: undefined, each }, partContextOf({}));
  assertEquals(limiter.when(), 2);
  new LimiterRegistry().register(steady);
});

Deno.test("types: an unknown kind, a default of a limiter, and a create without a limiter do not compile", () => {
  // @ts-expect-error: there is no such kind
  const kind: Field<"limiter"> = { kind: "float", description: "" };
  // @ts-expect-error: a limiter has no default
  const preset: Field<"limiter"> = { kind: "limiter", description: "", default: "x" };
  for (const x of [kind, preset]) assertThrows(() => defineLimiter(parts({ options: { x } })), TypeError);
  // @ts-expect-error: not a rate limiter
  defineLimiter({ type: "x", description: "", options: {}, create: () => 5 });
});

Deno.test("types: a custom limiter inside a built-in one compiles, and a misspelt option beside or around it does not", () => {
  const registry = limiters.extend().register(parts({
    type: "mine",
    options: { step: { kind: "duration", description: "" }, of: { kind: "limiters", description: "", default: [] } },
  }));
  const mine = { type: "mine", step: "1s" } as const;
  const good = [
    registry.build({ type: "max-wait", maxDelay: "1m", limiter: { type: "mine", step: "1s" } }),
    registry.build({
      type: "max-of",
      limiters: [mine, { type: "bucket", rate: 1, burst: 1 }, { type: "mine", step: 1 }],
    }),
    registry.build({ type: "mine", step: 1, of: [{ type: "max-wait", maxDelay: 1, limiter: mine }] }),
    registry.build<string>({
      type: "max-wait",
      maxDelay: 1,
      limiter: { type: "max-wait", maxDelay: 1, limiter: mine },
    }),
  ];
  for (const limiter of good) assert(limiter.when("a") <= 7);
  const typed: RateLimiter<string> = registry.build({ type: "max-wait", maxDelay: 1, limiter: mine });
  assertEquals(typed.when("a"), 1);
  const bad = [
    // @ts-expect-error: the option is called maxDelay
    () => registry.build({ type: "max-wait", maxDely: "1m", limiter: mine }),
    // @ts-expect-error: maxDelay is missing
    () => registry.build({ type: "max-wait", limiter: mine }),
    // @ts-expect-error: the option is called burst
    () => registry.build({ type: "max-of", limiters: [mine, { type: "bucket", rate: 1, brust: 1 }] }),
    // @ts-expect-error: burst is missing
    () => registry.build({ type: "max-of", limiters: [mine, { type: "bucket", rate: 1 }] }),
    // @ts-expect-error: not a limiter
    () => registry.build({ type: "max-of", limiters: [mine, 5] }),
    // @ts-expect-error: maxDelay of the inner limiter is not a duration
    () => registry.build({ type: "max-of", limiters: [{ type: "max-wait", maxDelay: true, limiter: mine }] }),
    // @ts-expect-error: the type is missing
    () => registry.build({ type: "max-wait", maxDelay: "1m", limiter: { step: "1s" } }),
  ];
  for (const build of bad) assertThrows(build, ConfigError);
});

Deno.test("types: an optional member may also be undefined", () => {
  const input: OptionsInput<typeof LINEAR, LimiterInputs> = {
    step: 1,
    label: "",
    strict: true,
    mode: "up",
    inner: "name",
    max: undefined,
    scale: undefined,
    others: undefined,
  };
  const context: BuildContext = { clock: undefined, random: undefined };
  const load: LoadConfigOptions = { limiters: undefined, metrics: undefined, ...context };
  const field: Field = { kind: "number", description: "", min: undefined, max: undefined, required: undefined };
  assertEquals([input.max, load.clock, field.min], [undefined, undefined, undefined]);
  assertEquals(limiters.build({ type: "bucket", rate: 1, burst: 1 }, context).when("a"), 0);
});

Deno.test("types: a misspelt option of a built-in limiter does not compile, and one of a custom limiter does", () => {
  const registry = limiters.extend().register(parts({}));
  // @ts-expect-error: the option is called burst
  const misspelt = () => limiters.build({ type: "bucket", rate: 1, brust: 1 });
  // @ts-expect-error: an unknown option
  const tooMany = () => limiters.build({ type: "bucket", rate: 1, burst: 1, clock: 5 });
  // @ts-expect-error: burst is missing
  const missing = () => limiters.build({ type: "bucket", rate: 1 });
  // @ts-expect-error: rate must be a number
  const wrongType = () => limiters.build({ type: "bucket", rate: "1/s", burst: 1 });
  const backoff = { type: "exponential", baseDelay: 1, maxDely: 2 } as const;
  // @ts-expect-error: a misspelled option of a limiter inside another limiter
  const inside = () => limiters.build({ type: "max-of", limiters: [backoff] });
  // @ts-expect-error: the type is missing
  const typeless = () => limiters.build({ rate: 1, burst: 1 });
  // The type is not a literal, so the compiler can't check the options.
  const vague = (type: string) => limiters.build({ type, rate: 1 });
  for (const build of [misspelt, tooMany, missing, wrongType, inside, typeless]) assertThrows(build, ConfigError);
  assertThrows(() => vague("bucket"), ConfigError);

  const custom = registry.build({ type: "custom" });
  assertType<Same<typeof custom, RateLimiter>>();
  const typed = limiters.build<number>({ type: "exponential", baseDelay: "1s", maxDelay: "1m" });
  assertType<Same<typeof typed, RateLimiter<number>>>();
  assertEquals(custom.when("a"), 7);
});
