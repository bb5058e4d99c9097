import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { passwordMistake } from '../console/sign-in/password.ts';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

/**
 * Asks for a new password twice without showing it, or reads the first line of standard input. Never takes it from an
 * argument, which other users of the machine can see.
 *
 * @throws {UsageError} when it is too short or too long, or the two differ
 */
export async function readNewPassword(output: Output): Promise<string> {
  const { input } = output;
  const password = input.isTTY
    ? await askHidden(output, 'Password: ')
    : ((await text(input)).split(/\r?\n/, 1)[0] ?? '');
  const mistake = passwordMistake(password);
  if (mistake !== undefined) throw new UsageError(mistake);
  if (input.isTTY && (await askHidden(output, 'The same password again: ')) !== password) {
    throw new UsageError('The two passwords differ. Nothing was changed.');
  }
  return password;
}

/** Asks without showing what is typed. */
export async function askHidden(output: Output, question: string): Promise<string> {
  const { input } = output;
  output.err(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: silent, terminal: true });
  const closed = once(prompt, 'close').then(() => Promise.reject(new Error('The prompt is closed')));
  try {
    return await Promise.race([prompt.question(''), closed]);
  } catch {
    // Ctrl-C or Ctrl-D.
    throw new UsageError('Cancelled. Nothing was changed.');
  } finally {
    closed.catch(() => undefined);
    prompt.close();
    output.err('\n');
  }
}
