import { setTimeout as sleep } from 'node:timers/promises';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';

/** How long the start of the gateway waits for EHRs. */
const patienceMilliseconds = 5_000;
const pauseMilliseconds = 10_000;

/** A connector that is open, or opens as soon as its EHR can be reached. */
export interface Opening {
  /** `undefined` until the connector is open. */
  current(): Connector | undefined;
  stop(): void;
}

/**
 * Opens a connector and retries until it succeeds. An unreachable EHR does not delay the gateway or other EHRs. Each kind
 * of failure is logged once.
 *
 * @throws any error other than a `ConnectorError` that occurs while the start waits, because it is a bug
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
    if (kind === 'bug') log.error(about, 'failed to open connector, retrying');
    else log.warn(about, 'EHR unavailable, retrying');
  }

  async function untilOpen(first: Promise<void>): Promise<void> {
    await first.catch(tell);
    while (!connector && !stopped.signal.aborted) {
      await sleep(pauseMilliseconds, undefined, { ref: false, signal: stopped.signal }).catch(() => undefined);
      if (!stopped.signal.aborted) await attempt().catch(tell);
    }
    if (connector && told.size > 0) log.info({ emr }, 'EHR connected after retries');
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
