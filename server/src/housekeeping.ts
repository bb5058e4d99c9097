import type { Logger } from 'pino';
import type { Configuration } from './config/configuration.ts';
import { expireConfirmations } from './confirmations/expire.ts';
import { deleteOldConfirmations, forgetServedCodes } from './confirmations/retention.ts';
import { describeError } from './http/describe-error.ts';
import { forgetOldKeys, openLeftKeys } from './idempotency/keys.ts';
import { deleteOldMessages, forgetFailedContent } from './messages/retention.ts';
import { recoverWrites } from './writes/recovery.ts';
import type { WriteServices } from './writes/services.ts';

const roundMilliseconds = 2_000;
/** Of each kind in one round: no statement is long, and what has piled up is gone in a while. */
const deletedAtOnce = 1_000;

export interface Housekeeping {
  /** One round, now. */
  run(): Promise<void>;
  /** Waits for the round that is under way. */
  stop(): Promise<void>;
}

/**
 * What nobody waits for: finishing writes of processes that died, giving up holds, deleting what has served. Every
 * gateway does it; two at the same work do no harm.
 */
export function startHousekeeping(
  services: WriteServices,
  retention: Configuration['retention'],
  log: Logger,
): Housekeeping {
  const { db, outbox } = services;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let stopped = false;

  async function run(): Promise<void> {
    try {
      await recoverWrites(services, log);
      await expireConfirmations(services, log);
      await openLeftKeys(db, services.process);
      await outbox.resume();
      await forgetOldKeys(db, deletedAtOnce);
      await forgetServedCodes(db, deletedAtOnce);
      await forgetFailedContent(db, deletedAtOnce);
      await deleteOldMessages(db, retention.confirmation_days, deletedAtOnce);
      await deleteOldConfirmations(db, retention.confirmation_days, deletedAtOnce);
    } catch (error) {
      log.error({ cause: describeError(error) }, 'housekeeping failed');
    }
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      current = run().then(schedule);
    }, roundMilliseconds);
    timer.unref();
  }

  schedule();
  return {
    run,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
