import type { ConfigurationFile } from '../schema/schema.ts';

/** A file in which values can be missing. Values of the wrong type are `undefined`. */
export type Partially<T> = T extends readonly (infer Item)[]
  ? readonly (Partially<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Partially<T[Key]> | undefined }
    : T;
export type PartialFile = Partially<ConfigurationFile>;
