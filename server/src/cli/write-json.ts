import { writeFile } from 'node:fs/promises';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

/** Writes JSON to a file, or to standard output for `-`. */
export async function writeJson(output: Output, file: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (file === '-') {
    output.out(text);
    return;
  }
  await writeFile(file, text).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be written: ${error.code}.`);
  });
}
