import { setTimeout as sleep } from 'node:timers/promises';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { operations } from './operations.ts';
import type { Subject } from './subject.ts';

const longestWaitSeconds = 90;
const attempts = 3;

/** A subject whose EHR is waited for when it asks for that, such as one whose quota for a minute is used up. */
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
      // Only `unavailable` tells how long to wait, and of it nothing was done.
      if (seconds === undefined || seconds > longestWaitSeconds || attempt === attempts) throw error;
      await sleep(seconds * 1000);
    }
  }
}
