import { type Logger, symbols } from 'pino';

/** Prints a text for people to where the log goes, after the lines that are still being written. */
export function print(log: Logger, text: string): void {
  const { [symbols.streamSym]: stream } = log as unknown as { [symbols.streamSym]: { write(text: string): void } };
  stream.write(text);
}
