/**
 * The types of the configs of parts, made of their declarations.
 *
 * @module
 */

import type { OptionsInput } from "./fields.ts";

/** The declared options of each definition among the exports of a module, by type. */
export type DeclaredOptions<Exports> = {
  [
    Name in keyof Exports as Exports[Name] extends { readonly type: infer Type extends string; create: unknown } ? Type
      : never
  ]: Exports[Name] extends { readonly options: infer F; create: unknown } ? F : never;
};

/** The config of a part of one of these types. `Inputs` has what stands for a part in an option, by its kind. */
export type PartConfig<Declared, Inputs, Type extends keyof Declared = keyof Declared> = {
  [K in Type]: { type: K } & OptionsInput<Declared[K], Inputs>;
}[Type];

/** The config of a part that is not built in. Nothing is known of its options. */
export type CustomConfig<Type extends string = string> = { type: Type; [option: string]: unknown };

/**
 * What the config of a part has to be, given its own type `C`: those of the declared types have the options that they
 * declare and no others, however deep they are nested. Nothing is known of other types. `Word` is what such a part is
 * called, and `Config` is what it is where `C` says nothing.
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
