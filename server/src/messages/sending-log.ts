import type { Logger } from 'pino';
import type { Channel } from '../db/tables/messages.ts';
import { type AttemptLog, createAttemptLog } from '../log/attempt-log.ts';

/** The lines about providers that take no messages, or not all. */
export type SendingLog = AttemptLog<Channel>;

export function createSendingLog(log: Pick<Logger, 'info' | 'warn'>): SendingLog {
  return createAttemptLog(log, {
    subject: 'channel',
    failing: 'attempts to send messages fail',
    again: 'messages are sent again',
  });
}
