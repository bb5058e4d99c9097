import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../problems/problem.ts';

/** OWASP Password Storage Cheat Sheet: Argon2id with 19 MiB and two iterations. */
const settings = { memorySize: 19 * 1024, iterations: 2, parallelism: 1, hashLength: 32 };
/** The hash of a random password that nobody knows, with the same settings. */
const hashOfNobody =
  '$argon2id$v=19$m=19456,t=2,p=1$Q3Jvc3N3YXJkIG5vYm9keQ$Ci5eJ5Yt2tRz0m0v2T4o3lqv5oZ6rYyqk3p1q2s3t4U';

const longestQueue = 20;

/** One password is hashed at a time, so that sign-ins cannot use all processors. Strangers wait behind all others. */
const waiting = { known: [] as (() => void)[], strangers: [] as (() => void)[] };
let isBusy = false;

/** What the thread does: with `hash` it verifies, otherwise it hashes. */
export type PasswordTask =
  | { readonly password: string; readonly hash: string }
  | { readonly password: string; readonly settings: typeof settings & { readonly salt: Uint8Array } };

const shortestPassword = 12;
const longestPassword = 200;

/** Why a password that an operator chooses is not accepted. */
export function passwordMistake(password: string): string | undefined {
  const { length } = password;
  if (length >= shortestPassword && length <= longestPassword) return undefined;
  return `A password has ${shortestPassword} to ${longestPassword} characters; this one has ${length}.`;
}

/** 32 characters that are hard to confuse. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** A random password with 100 bits, such as `ab3de-7gh9k-mnp2r-stu4w`. */
export function makePassword(): string {
  const text = Array.from(randomBytes(20), (byte) => alphabet[byte % 32]).join('');
  return text.replace(/.{5}(?=.)/g, '$&-');
}

/** Hashes a password with Argon2id (RFC 9106), in the PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  return String(await inTurn({ password, settings: { ...settings, salt: randomBytes(16) } }));
}

/**
 * Whether the hash matches the password. Takes the same time if there is no hash.
 *
 * @param isStranger whether the password comes from a browser in which its operator has not signed in before
 */
export async function isPassword(
  password: string,
  hash: string | undefined,
  { isStranger = false } = {},
): Promise<boolean> {
  const queue = isStranger ? waiting.strangers : waiting.known;
  const isRight = (await inTurn({ password, hash: hash ?? hashOfNobody }, queue)) === true;
  return isRight && hash !== undefined;
}

/** @throws Problem `overloaded` when too many are waiting */
async function inTurn(task: PasswordTask, queue = waiting.known): Promise<unknown> {
  if (queue.length >= longestQueue) throw unavailable('overloaded');
  if (isBusy) await new Promise<void>((resolve) => queue.push(resolve));
  isBusy = true;
  try {
    return await inThread(task);
  } finally {
    const next = waiting.known.shift() ?? waiting.strangers.shift();
    // Busy until the next one has begun, so that nobody overtakes it.
    if (next) next();
    else isBusy = false;
  }
}

/** Milliseconds. People sign in with one attempt after another, and to start a thread takes longer than to hash. */
const idleThreadTime = 5_000;
let thread: Worker | undefined;
let idling: NodeJS.Timeout | undefined;

/** In a thread that ends when it has had nothing to do, because it needs memory. */
async function inThread(task: PasswordTask): Promise<unknown> {
  clearTimeout(idling);
  const worker = thread ?? new Worker(new URL('./password-worker.ts', import.meta.url));
  thread = worker;
  worker.ref();
  worker.postMessage(task);
  try {
    const [result] = await once(worker, 'message');
    return result;
  } catch (error) {
    thread = undefined;
    throw error;
  } finally {
    worker.unref();
    idling = setTimeout(() => {
      thread = undefined;
      void worker.terminate();
    }, idleThreadTime).unref();
  }
}
