import { setTimeout as sleep } from 'node:timers/promises';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';

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
 * Opens a connector, again and again until it is open: an EHR that does not answer keeps neither the gateway nor the
 * other EHRs from starting. The log tells of each kind of failure once.
 *
 * @throws whatever is no `ConnectorError`, if it comes while the start waits: a mistake of ours, with which nothing should
 *   start
 */
export async function startOpening(emr: string, open: () => Promise<Connector>, log: Logger): Promise<Opening> {
  const stopped = new AbortController();
  const told = new Set<string>();
  let connector: Connector | undefined;

  async function attempt(): Promise<void> {
    connector = await open();
  }

  function tell(error: unknown): void {
    const kind = error instanceof ConnectorError ? error.kind : 'bug';
    if (told.has(kind)) return;
    told.add(kind);
    const about = { emr, kind, cause: describeError(error) };
    if (kind === 'bug') log.error(about, 'a connector fails to open, and is tried again');
    else log.warn(about, 'an EHR cannot be opened yet');
  }

  async function untilOpen(first: Promise<void>): Promise<void> {
    await first.catch(tell);
    while (!connector && !stopped.signal.aborted) {
      await sleep(pauseMilliseconds, undefined, { ref: false, signal: stopped.signal }).catch(() => undefined);
      if (!stopped.signal.aborted) await attempt().catch(tell);
    }
    if (connector && told.size > 0) log.info({ emr }, 'an EHR that could not be opened is open');
  }

  const first = attempt();
  const patience = new AbortController();
  await Promise.race([
    first.catch((error) => {
      if (!(error instanceof ConnectorError)) throw error;
    }),
    sleep(patienceMilliseconds, undefined, { ref: false, signal: patience.signal }).catch(() => undefined),
  ]);
  patience.abort();
  void untilOpen(first);
  return { current: () => connector, stop: () => stopped.abort() };
}
