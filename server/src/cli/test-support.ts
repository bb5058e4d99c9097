import { run } from './run.ts';

/** Runs a command line in this process. Returns its exit code and output. */
export async function crossward(words: string) {
  let stdout = '';
  let stderr = '';
  const code = await run(words.split(' '), {
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
    isWatched: false,
  });
  return { code, stdout, stderr };
}
