import type { Logger } from 'pino';
import { expireConfirmations } from './confirmations/expire.ts';
import { describeError } from './http/describe-error.ts';
import { forgetOldKeys, openLeftKeys } from './idempotency/keys.ts';
import { recoverWrites } from './writes/recovery.ts';
import type { WriteServices } from './writes/services.ts';

const roundMilliseconds = 2_000;

export interface Housekeeping {
  /** One round, now. */
  run(): Promise<void>;
  /** Waits for the round that is under way. */
  stop(): Promise<void>;
}

/**
 * What nobody waits for: finishing writes of processes that died, giving up holds, forgetting old keys. Every gateway
 * does it; two at the same work do no harm.
 */
export function startHousekeeping(services: WriteServices, log: Logger): Housekeeping {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let stopped = false;

  async function run(): Promise<void> {
    try {
      await recoverWrites(services, log);
      await expireConfirmations(services, log);
      await openLeftKeys(services.db, services.process);
      await forgetOldKeys(services.db);
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
