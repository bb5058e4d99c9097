import { setTimeout as sleep } from 'node:timers/promises';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { operations } from './operations.ts';
import type { Subject } from './subject.ts';

const maxDelaySeconds = 90;
const maxAttempts = 3;

/** Wraps a subject so that calls are retried after the delay that the EHR requests, for example for a rate limit. */
export function withRetries(subject: Subject): Subject {
  return Object.create(subject, {
    connector: { get: () => retrying(subject.connector) },
    second: { get: () => subject.second && retrying(subject.second) },
  });
}

function retrying(connector: Connector): Connector {
  const wrapped = operations.flatMap((name) => {
    const call = connector[name] as ((...input: unknown[]) => Promise<unknown>) | undefined;
    return call ? [[name, (...input: unknown[]) => callWithRetries(() => call(...input))]] : [];
  });
  return { ...connector, ...Object.fromEntries(wrapped) };
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
