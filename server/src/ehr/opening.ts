import { type Connector, ConnectorError } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';

/** How long the start of the gateway waits for one EHR. */
const patienceMilliseconds = 5_000;
/** The pause after the first failed attempt. It doubles after each further one. */
const shortestPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 30_000;

/** A connector that is open, or will be as soon as its EHR answers. */
export interface Opening {
  /** `undefined`: the EHR has not answered yet. */
  current(): Connector | undefined;
  /** Seconds until the next attempt, at least 1. */
  retryAfterSeconds(): number;
  stop(): void;
}

/**
 * Opens a connector, again and again until it is open, after 1 second, 2, 4 and so on up to 30: an EHR that does not answer keeps neither the gateway nor the
 * other EHRs from starting. The log tells of each kind of failure once.
 *
 * @throws whatever is no `ConnectorError`, if it comes while the start waits: a mistake of ours, with which nothing should
 *   start
 */
export async function startOpening(emr: string, open: () => Promise<Connector>, log: Logger): Promise<Opening> {
  const stopped = new AbortController();
  const told = new Set<string>();
  let connector: Connector | undefined;
  let nextAttemptAt = 0;

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
    for (let pause = shortestPauseMilliseconds; !connector && !stopped.signal.aborted; pause *= 2) {
      const milliseconds = Math.min(pause, longestPauseMilliseconds);
      nextAttemptAt = Date.now() + milliseconds;
      await sleep(milliseconds, stopped.signal);
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
    sleep(patienceMilliseconds, patience.signal),
  ]);
  patience.abort();
  void untilOpen(first);
  return {
    current: () => connector,
    retryAfterSeconds: () => Math.max(1, Math.ceil((nextAttemptAt - Date.now()) / 1000)),
    stop: () => stopped.abort(),
  };
}

/** Ends early when the signal aborts. Does not keep the process running. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds).unref();
  const stop = () => {
    clearTimeout(timer);
    resolve();
  };
  signal.addEventListener('abort', stop);
  return promise.finally(() => signal.removeEventListener('abort', stop));
}
