import type { Logger } from 'pino';

const minuteMs = 60_000;
/** A subject that is no longer tried, such as a deleted endpoint, is forgotten. */
const dayMs = 24 * 60 * minuteMs;

/** The lines about subjects whose attempts fail, or not all of them succeed: one at first, then one a minute, one at the end. */
export interface AttemptLog<Subject extends string> {
  /**
   * An attempt has failed.
   *
   * @param facts why, for the line
   */
  failed(subject: Subject, facts: object): void;
  succeeded(subject: Subject): void;
  stop(): void;
}

interface Words {
  /** The name of the subject in a line. */
  readonly subject: string;
  readonly failing: string;
  readonly again: string;
}

interface Outage {
  readonly since: number;
  latest: object;
  failed: number;
  failedInMinute: number;
  lastFailedAt: number;
  /** Of the first success after the last failure. */
  succeededAt: number | undefined;
  readonly timer: NodeJS.Timeout;
}

export function createAttemptLog<Subject extends string>(
  log: Pick<Logger, 'info' | 'warn'>,
  words: Words,
): AttemptLog<Subject> {
  const outages = new Map<Subject, Outage>();

  function warn(subject: Subject, outage: Outage): void {
    const { latest, failedInMinute } = outage;
    log.warn({ [words.subject]: subject, ...latest, failed_attempts: failedInMinute }, words.failing);
    outage.failedInMinute = 0;
  }

  /** A minute without a failure ends an outage, so that a subject of which every other attempt fails has no two lines for each. */
  function minute(subject: Subject, outage: Outage): void {
    const { since, failed, failedInMinute, lastFailedAt, succeededAt } = outage;
    if (failedInMinute > 0) warn(subject, outage);
    else if (succeededAt !== undefined) {
      end(subject, outage);
      const seconds = Math.round((succeededAt - since) / 1000);
      log.info({ [words.subject]: subject, seconds, failed_attempts: failed }, words.again);
    } else if (performance.now() - lastFailedAt > dayMs) end(subject, outage);
  }

  function end(subject: Subject, { timer }: Outage): void {
    clearInterval(timer);
    outages.delete(subject);
  }

  function begin(subject: Subject): Outage {
    const timer = setInterval(() => minute(subject, outage), minuteMs).unref();
    const now = performance.now();
    const outage: Outage = {
      since: now,
      latest: {},
      failed: 0,
      failedInMinute: 0,
      lastFailedAt: now,
      succeededAt: undefined,
      timer,
    };
    outages.set(subject, outage);
    return outage;
  }

  return {
    failed(subject, facts) {
      const known = outages.get(subject);
      const outage = known ?? begin(subject);
      outage.latest = facts;
      outage.failed++;
      outage.failedInMinute++;
      outage.lastFailedAt = performance.now();
      outage.succeededAt = undefined;
      if (!known) warn(subject, outage);
    },
    succeeded(subject) {
      const outage = outages.get(subject);
      if (outage) outage.succeededAt ??= performance.now();
    },
    stop() {
      for (const [subject, outage] of outages) end(subject, outage);
    },
  };
}
