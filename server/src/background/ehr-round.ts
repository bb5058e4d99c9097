import type { Logger } from 'pino';
import { expireOverdue } from '../appointments/expiry/expire-overdue.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { describeError } from '../log/describe-error.ts';
import type { WriteServices } from '../writes/write-kind.ts';
import { dueAtOnce, recoverDue } from './recover-due.ts';

/**
 * One round of background jobs for an EHR: releases expired holds and recovers interrupted writes. Returns whether there
 * is more to do. All gateways run it and share the work.
 */
export async function ehrRound(services: WriteServices, ehr: EhrConnection, log: Logger): Promise<boolean> {
  const logFailure = (error: unknown): number => {
    log.error({ emr: ehr.id, cause: describeError(error) }, 'background round failed');
    return 0;
  };
  await expireOverdue(services, ehr, log).catch(logFailure);
  return (await recoverDue(services, ehr, log).catch(logFailure)) === dueAtOnce;
}
