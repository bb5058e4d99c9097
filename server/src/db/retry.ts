import { setTimeout as sleep } from 'node:timers/promises';
import { isSerializationFailure, isStaleStatement } from './errors.ts';

const attempts = 6;
const firstDelay = 8;

/**
 * Retries a whole transaction after a conflict (40001, 40P01) or a prepared statement made stale by a migration: at most
 * six attempts, with random delays of up to 8, 16, 32, 64 and 128 milliseconds. `fn` must start and end its own
 * transaction. Throws the error of the last attempt; throws other errors at once.
 */
export async function retrySerialization<T>(fn: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fn();
    } catch (error) {
      if (attempt === attempts || !(isSerializationFailure(error) || isStaleStatement(error))) throw error;
      await sleep(Math.random() * firstDelay * 2 ** (attempt - 1));
    }
  }
}
