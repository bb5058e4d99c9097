import { setTimeout as sleep } from 'node:timers/promises';
import type { Connector } from '../connector.ts';
import type { DirectChanges } from '../direct-changes.ts';
import { ConnectorError } from '../errors.ts';
import { operations } from '../operations.ts';
import type { TimeSlot } from '../records.ts';
import { type Subject, withEachConnector } from './subject.ts';

const maxDelaySeconds = 90;
const maxAttempts = 3;

/**
 * Wraps a subject so that calls and changes in the EHR are retried after the delay that the EHR requests, for example for a
 * rate limit.
 */
export function withRetries(subject: Subject): Subject {
  return Object.create(withEachConnector(subject, retrying), {
    directChanges: { get: () => subject.directChanges && retryingChanges(subject.directChanges) },
  });
}

function retrying(connector: Connector): Connector {
  const wrapped = operations.flatMap((name) => {
    const call = connector[name] as ((...input: unknown[]) => Promise<unknown>) | undefined;
    return call ? [[name, (...input: unknown[]) => callWithRetries(() => call(...input))]] : [];
  });
  return { ...connector, ...Object.fromEntries(wrapped) };
}

function retryingChanges({ take, ...changes }: DirectChanges): DirectChanges {
  const wrapped = Object.entries(changes).map(([name, change]) => [
    name,
    (...input: unknown[]) => callWithRetries(() => (change as (...all: unknown[]) => Promise<void>)(...input)),
  ]);
  return {
    ...Object.fromEntries(wrapped),
    ...(take && {
      async take(timeSlot: TimeSlot) {
        const free = await callWithRetries(() => take(timeSlot));
        return () => callWithRetries(free);
      },
    }),
  };
}

async function callWithRetries<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const seconds = error instanceof ConnectorError ? error.retryAfterSeconds : undefined;
      // Safe to retry: only `unavailable` has a delay, and it means that nothing was changed.
      if (seconds === undefined || seconds > maxDelaySeconds || attempt === maxAttempts) throw error;
      await sleep(seconds * 1000);
    }
  }
}
