import type { OpenOperation } from '../operations/operator.ts';

/** Describes an operation for operators, with advice on what to do. */
export function describeOperation(operation: OpenOperation): string {
  const { id, emr, careUnitId, kind, clientId, isKeyed, state, reportedUnknown, attempt, failures, lastFailure } =
    operation;
  const rows: readonly (readonly [string, string])[] = [
    ['operation', id],
    ['EHR and care unit', `${emr}/${careUnitId}`],
    ['kind', kind],
    ['client', clientId],
    ['Idempotency-Key', isKeyed ? 'yes' : 'no'],
    ['state', state],
    ['sent to caller', responseOf(operation)],
    ['restarts', String(attempt)],
    ['consecutive failures', String(failures)],
    ['last failure', lastFailure ?? 'none'],
    ['created', time(operation.createdAt)],
    ['first attempt at EHR', time(operation.firstSentAt)],
    ['last attempt at EHR', time(operation.lastSentAt)],
    ['next attempt', time(operation.nextAttemptAt)],
    ['leased until', time(operation.leaseExpiresAt)],
    ['holds and codes expire', time(operation.expiresAt)],
    ['suspended', time(operation.suspendedAt)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
  return `${table}\n${adviceFor(operation, reportedUnknown)}\n`;
}

function responseOf({ hasResponse, reportedUnknown }: OpenOperation): string {
  if (hasResponse) return 'stored response';
  return reportedUnknown ? 'outcome_unknown' : 'nothing';
}

function time(instant: Date | null): string {
  return instant?.toISOString() ?? 'none';
}

function adviceFor({ state, id, leaseExpiresAt, lastFailure, emr }: OpenOperation, reportedUnknown: boolean): string {
  if (state === 'suspended') {
    const cause =
      lastFailure === 'emr_not_found'
        ? `${emr} is no longer in the configuration`
        : 'the background job failed too often; see the log';
    return (
      `The operation is suspended: ${cause}. Fix the cause and run \`operations retry ${id}\`, or check the appointment in ` +
      `the EHR and run \`operations drop ${id} --yes\`.`
    );
  }
  if (leaseExpiresAt) return 'A gateway is working on the operation. No action is needed.';
  if (state === 'compensating') {
    return 'The EHR made some of the changes, and the gateway is compensating them. No action is needed while the EHR can be reached.';
  }
  if (state === 'monitored') {
    return 'The operation ended as not done. The gateway checks the EHR for late effects for one day. No action is needed.';
  }
  return reportedUnknown
    ? 'The caller got outcome_unknown, and the gateway is reconciling the operation with the EHR. No action is needed while the EHR can be reached.'
    : 'The operation was interrupted. A gateway continues it at the next attempt. No action is needed.';
}
