import { setTimeout as sleep } from 'node:timers/promises';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { describeError } from '../http/describe-error.ts';

/** How long the start of the gateway waits for one EHR. */
const patienceMilliseconds = 5_000;
const pauseMilliseconds = 10_000;

/** A connector that is open, or will be as soon as its EHR answers. */
export interface Opening {
  /** `undefined`: the EHR has not answered yet. */
  current(): Connector | undefined;
  stop(): void;
}

/**
 * Opens a connector, again and again while its EHR is down: one that does not answer keeps neither the gateway nor the
 * other EHRs from starting.
 *
 * @throws whatever is no `ConnectorError`: a mistake of ours, with which nothing should start
 */
export async function startOpening(emr: string, open: () => Promise<Connector>, log: Logger): Promise<Opening> {
  const stopped = new AbortController();
  let connector: Connector | undefined;

  async function attempt(): Promise<void> {
    try {
      connector = await open();
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      log.warn({ emr, kind: error.kind, cause: describeError(error) }, 'an EHR cannot be opened yet');
    }
  }

  async function untilOpen(first: Promise<void>): Promise<void> {
    await first;
    while (!connector && !stopped.signal.aborted) {
      await sleep(pauseMilliseconds, undefined, { ref: false, signal: stopped.signal }).catch(() => undefined);
      if (!stopped.signal.aborted) await attempt();
    }
  }

  const first = attempt();
  const patience = new AbortController();
  await Promise.race([
    first,
    sleep(patienceMilliseconds, undefined, { ref: false, signal: patience.signal }).catch(() => undefined),
  ]);
  patience.abort();
  untilOpen(first).catch((error) => log.error({ emr, cause: describeError(error) }, 'an EHR cannot be opened'));
  return { current: () => connector, stop: () => stopped.abort() };
}
