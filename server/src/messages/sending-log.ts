import type { Logger } from 'pino';
import type { Channel } from '../db/tables/messages.ts';

const minuteMs = 60_000;

/** Why an attempt failed: a fixed word or the provider's status code, and the same in words. */
interface Failure {
  readonly reason: string;
  readonly cause: string;
}

/** The lines of the log about a provider that takes no messages, or not all: one at first, then one a minute, one at the end. */
export interface SendingLog {
  /** An attempt has failed, and there will be another one. */
  failed(channel: Channel, failure: Failure): void;
  sent(channel: Channel): void;
  stop(): void;
}

interface Outage {
  readonly since: number;
  latest: Failure;
  failed: number;
  failedInMinute: number;
  /** When a message was sent for the first time after the last failure. */
  sentAt: number | undefined;
  readonly timer: NodeJS.Timeout;
}

export function createSendingLog(log: Pick<Logger, 'info' | 'warn'>): SendingLog {
  const outages = new Map<Channel, Outage>();

  function warn(channel: Channel, outage: Outage): void {
    log.warn({ channel, ...outage.latest, failed_attempts: outage.failedInMinute }, 'attempts to send messages fail');
    outage.failedInMinute = 0;
  }

  /** A minute without a failure ends an outage, so that a provider that takes every other message has no two lines for each. */
  function minute(channel: Channel, outage: Outage): void {
    const { since, failed, failedInMinute, sentAt, timer } = outage;
    if (failedInMinute > 0) warn(channel, outage);
    else if (sentAt !== undefined) {
      clearInterval(timer);
      outages.delete(channel);
      const seconds = Math.round((sentAt - since) / 1000);
      log.info({ channel, seconds, failed_attempts: failed }, 'messages are sent again');
    }
  }

  function begin(channel: Channel, latest: Failure): Outage {
    const timer = setInterval(() => minute(channel, outage), minuteMs).unref();
    const outage: Outage = {
      since: performance.now(),
      latest,
      failed: 0,
      failedInMinute: 0,
      sentAt: undefined,
      timer,
    };
    outages.set(channel, outage);
    return outage;
  }

  return {
    failed(channel, failure) {
      const known = outages.get(channel);
      const outage = known ?? begin(channel, failure);
      outage.latest = failure;
      outage.failed++;
      outage.failedInMinute++;
      outage.sentAt = undefined;
      if (!known) warn(channel, outage);
    },
    sent(channel) {
      const outage = outages.get(channel);
      if (outage) outage.sentAt ??= performance.now();
    },
    stop() {
      for (const { timer } of outages.values()) clearInterval(timer);
      outages.clear();
    },
  };
}
