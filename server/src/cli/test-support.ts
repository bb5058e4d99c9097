import { Readable } from 'node:stream';
import { run } from './run.ts';

/** Runs a command line in this process, with this text as its standard input. Returns its exit code and output. */
export async function crossward(words: string, input = '') {
  let stdout = '';
  let stderr = '';
  const code = await run(words.split(' '), {
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
    input: Readable.from([input]),
  });
  return { code, stdout, stderr };
}
