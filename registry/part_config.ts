/**
 * Types of the configs of parts, derived from their declarations.
 *
 * @module
 */

import type { OptionsInput } from "./fields.ts";

/** Declared options of each definition that a module exports, by type. */
export type DeclaredOptions<Exports> = {
  [
    Name in keyof Exports as Exports[Name] extends { readonly type: infer Type extends string; create: unknown } ? Type
      : never
  ]: Exports[Name] extends { readonly options: infer F; create: unknown } ? F : never;
};

/** Config of a part of one of the declared types. `Inputs` maps each kind of nested part to the type of its config. */
export type PartConfig<Declared, Inputs, Type extends keyof Declared = keyof Declared> = {
  [K in Type]: { type: K } & OptionsInput<Declared[K], Inputs>;
}[Type];

/** Config of a part of a custom type, whose options are not checked by the compiler. */
export type CustomConfig<Type extends string = string> = { type: Type; [option: string]: unknown };

/**
 * Type to which a config of type `C` must be assignable. A part of a declared type, nested or not, must have its
 * required options and no undeclared options. The options of parts of other types are not checked. `Word` is the kind
 * of part, and `Config` is the required type of a config without a `type`.
 */
export type CheckedPartConfig<C, Declared, Word extends string, Config> = C extends readonly unknown[]
  ? { [I in keyof C]: CheckedPartConfig<C[I], Declared, Word, Config> }
  : C extends { type: infer Type extends keyof Declared } ?
      & { type: Type }
      & OptionsInput<Declared[Type], Record<Word, unknown>>
      & {
        [Option in Exclude<keyof C, "type">]: Option extends keyof Declared[Type]
          ? Declared[Type][Option] extends { kind: Word | `${Word}s` }
            ? CheckedPartConfig<C[Option], Declared, Word, Config>
          : C[Option]
          : never;
      }
  : C extends { type: string } ? CustomConfig
  : Config;
