import { setTimeout as sleep } from 'node:timers/promises';
import { isSerializationFailure, isStaleStatement } from './errors.ts';

const attempts = 6;
const firstDelay = 8;

/**
 * Runs a whole transaction again when it lost against another one (40001, 40P01), or when a migration made one of its
 * prepared statements stale: at most six times, after random delays of up to 8, 16, 32, 64 and 128 milliseconds. `fn` must
 * begin and end its transaction itself. Throws what the last attempt threw, and anything else at once.
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
