import type { Readable } from 'node:stream';

/** Input and output of a command. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Standard input. `isTTY`: a person types. */
  readonly input: Readable & { readonly isTTY?: boolean };
}
