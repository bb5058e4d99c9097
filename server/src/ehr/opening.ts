import { type Connector, ConnectorError } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { describeError } from '../log/describe-error.ts';
import { publicDetailOf } from './connector-problems.ts';
import { causeOf } from './guard/cause-of.ts';

/** How long the start of the gateway waits for EHRs, and a change of its configuration file. */
export const longestWaitMs = 5_000;
/** The pause after the first failed attempt. It doubles after each further one. */
const shortestPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 30_000;

/** A connector that is open, or opens as soon as its EHR can be reached. */
export interface Opening {
  /** `undefined` until it is open. */
  readonly connector: Connector | undefined;
  /** Seconds until the next attempt, at least 1. */
  retryAfterSeconds(): number;
  /** What callers may know of why the connector is not open. */
  detail(): string | undefined;
  stop(): void;
}

/**
 * Opens a connector and retries until it succeeds: after 1 second, 2, 4 and so on up to 30. An unreachable EHR does not
 * delay the gateway or other EHRs. Each kind of failure is logged once.
 *
 * @throws any error other than a `ConnectorError` that occurs while the start waits, because it is a bug
 */
export async function startOpening(
  emr: string,
  open: () => Promise<Connector>,
  log: Logger,
  isPaused: () => boolean = () => false,
  waitMs = longestWaitMs,
): Promise<Opening> {
  const stopped = new AbortController();
  const logged = new Set<string>();
  const opening: { connector: Connector | undefined } = { connector: undefined };
  let nextAttemptAt = 0;
  let detail: string | undefined;

  async function attempt(): Promise<void> {
    try {
      opening.connector = await open();
    } catch (error) {
      detail = publicDetailOf(error);
      throw error;
    }
  }

  function logOnce(error: unknown): void {
    const kind = error instanceof ConnectorError ? error.kind : 'bug';
    if (logged.has(kind)) return;
    logged.add(kind);
    const about = { emr, kind, fault: causeOf(error), cause: describeError(error) };
    if (kind === 'bug') log.error(about, 'failed to open connector, retrying');
    else log.warn(about, 'EHR unavailable, retrying');
  }

  // While operators have paused the EHR, an attempt calls nothing, and the EHR is wanted as soon as they resume it.
  const next = (pause: number) => (isPaused() ? shortestPauseMilliseconds : pause * 2);

  async function untilOpen(first: Promise<void>): Promise<void> {
    await first.catch(logOnce);
    for (let pause = shortestPauseMilliseconds; !opening.connector && !stopped.signal.aborted; pause = next(pause)) {
      const milliseconds = Math.min(pause, longestPauseMilliseconds);
      nextAttemptAt = Date.now() + milliseconds;
      await sleep(milliseconds, stopped.signal);
      if (!stopped.signal.aborted) await attempt().catch(logOnce);
    }
    if (opening.connector && logged.size > 0) log.info({ emr }, 'EHR connected after retries');
  }

  const first = attempt();
  const waiting = new AbortController();
  await Promise.race([
    first.catch((error) => {
      if (!(error instanceof ConnectorError)) throw error;
    }),
    sleep(waitMs, waiting.signal),
  ]);
  waiting.abort();
  void untilOpen(first);
  return Object.assign(opening, {
    retryAfterSeconds: () => Math.max(1, Math.ceil((nextAttemptAt - Date.now()) / 1000)),
    detail: () => detail,
    stop: () => stopped.abort(),
  });
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
