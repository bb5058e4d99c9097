import type { Logger } from 'pino';
import { describeError } from '../http/describe-error.ts';
import { Problem } from '../problems/problem.ts';
import { claimAbandoned } from './intents.ts';
import { recoverWrite } from './resume.ts';
import type { WriteServices } from './services.ts';

const atOnce = 20;

/** Ends the writes that nobody is at work on. What fails stays for the next round. */
export async function recoverWrites(services: WriteServices, log: Logger): Promise<void> {
  const intents = await claimAbandoned(services.db, services.keys, services.process, atOnce);
  for (const intent of intents) {
    try {
      await recoverWrite(services, intent);
      log.info({ operation_id: intent.operationId, emr: intent.emr }, 'a write that was broken off is finished');
    } catch (error) {
      // The EHR's refusal ends a write as well as its consent does.
      if (error instanceof Problem && error.status < 500) continue;
      log.error({ operation_id: intent.operationId, emr: intent.emr, cause: describeError(error) }, 'recovery failed');
    } finally {
      services.process.active.delete(intent.operationId);
    }
  }
}
