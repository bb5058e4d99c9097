import { setTimeout as sleep } from 'node:timers/promises';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { operations } from './operations.ts';
import type { Subject } from './subject.ts';

const longestWaitSeconds = 90;
const attempts = 3;

/** Wraps a subject so that calls are retried after the delay that the EHR requests, for example for a rate limit. */
export function waitedFor(subject: Subject): Subject {
  return Object.create(subject, {
    connector: { get: () => waiting(subject.connector) },
    second: { get: () => subject.second && waiting(subject.second) },
  });
}

function waiting(connector: Connector): Connector {
  const patient = operations.flatMap((name) => {
    const ask = connector[name] as ((...given: unknown[]) => Promise<unknown>) | undefined;
    return ask ? [[name, (...given: unknown[]) => askUntilAnswered(() => ask(...given))]] : [];
  });
  return { ...connector, ...Object.fromEntries(patient) };
}

async function askUntilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const seconds = error instanceof ConnectorError ? error.retryAfterSeconds : undefined;
      // Safe to retry: only `unavailable` has a delay, and it means that nothing was changed.
      if (seconds === undefined || seconds > longestWaitSeconds || attempt === attempts) throw error;
      await sleep(seconds * 1000);
    }
  }
}
