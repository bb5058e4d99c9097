import type { Logger } from 'pino';
import { expireOverdue } from '../appointments/expiry/expire-overdue.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { describeError } from '../log/describe-error.ts';
import { dueAtOnce, recoverDue } from '../operations/recover-due.ts';
import type { OperationServices } from '../operations/services.ts';

/**
 * What nobody waits for in one EHR: holds that have run out are given up, and operations that were broken off go on.
 * Answers whether there is more to do. Every gateway does it, and they share the work.
 */
export async function ehrRound(services: OperationServices, ehr: EhrConnection, log: Logger): Promise<boolean> {
  const began = performance.now();
  const told = (error: unknown): number => {
    log.error({ emr: ehr.id, cause: describeError(error) }, 'background round failed');
    return 0;
  };
  try {
    await expireOverdue(services, ehr, log).catch(told);
    return (await recoverDue(services, ehr, log).catch(told)) === dueAtOnce;
  } finally {
    services.operationMetrics.round(ehr.id, (performance.now() - began) / 1000);
  }
}
