import type { Logger } from 'pino';
import { describeError } from '../http/describe-error.ts';
import { Problem } from '../problems/problem.ts';
import { claimAbandoned, openIntent } from './intents.ts';
import { recoverWrite } from './resume.ts';
import type { WriteServices } from './services.ts';

const atOnce = 20;

/** Ends the writes that nobody is at work on. What fails, or does not show, stays for the next round. */
export async function recoverWrites(services: WriteServices, log: Logger): Promise<void> {
  const claimed = await claimAbandoned(services.db, services.process, atOnce);
  for (const row of claimed) {
    const about = { operation_id: row.operation_id, emr: row.emr };
    try {
      const isEnded = await recoverWrite(services, openIntent(services.keys, row));
      if (isEnded) log.info(about, 'a write that was broken off is finished');
    } catch (error) {
      // The EHR's refusal ends a write as well as its consent does.
      if (error instanceof Problem && error.status < 500) continue;
      log.error({ ...about, cause: describeError(error) }, 'recovery failed');
    } finally {
      services.process.active.delete(row.operation_id);
    }
  }
}
