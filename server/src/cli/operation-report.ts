import type { OpenOperation } from '../operations/operator.ts';

/** All that an operator may know of an operation, and what to do about it. */
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
    ['caller was told', toldOf(operation)],
    ['begun anew', `${attempt} times`],
    ['failures in a row', String(failures)],
    ['last failure', lastFailure ?? 'none'],
    ['begun', time(operation.createdAt)],
    ['EHR first asked', time(operation.firstSentAt)],
    ['EHR last asked', time(operation.lastSentAt)],
    ['next attempt', time(operation.nextAttemptAt)],
    ['worked on until', time(operation.leaseExpiresAt)],
    ['holds and codes until', time(operation.expiresAt)],
    ['suspended', time(operation.suspendedAt)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
  return `${table}\n${adviceFor(operation, reportedUnknown)}\n`;
}

function toldOf({ hasResponse, reportedUnknown }: OpenOperation): string {
  if (hasResponse) return 'the answer that is kept';
  return reportedUnknown ? 'outcome_unknown' : 'nothing';
}

function time(instant: Date | null): string {
  return instant?.toISOString() ?? 'none';
}

function adviceFor({ state, id, leaseExpiresAt, lastFailure, emr }: OpenOperation, reportedUnknown: boolean): string {
  if (state === 'suspended') {
    const cause =
      lastFailure === 'emr_not_found'
        ? `${emr} is not in the configuration any more`
        : 'background work has failed too often; the log says why';
    return (
      `Nobody works on it: ${cause}. Put that right and run \`operations retry ${id}\`, or look at the appointment in ` +
      `the EHR and run \`operations drop ${id} --yes\`.`
    );
  }
  if (leaseExpiresAt) return 'A gateway is at work on it. There is nothing to do.';
  if (state === 'compensating') {
    return 'The EHR has done some of it, and that is being taken back. There is nothing to do while the EHR can be reached.';
  }
  if (state === 'monitored') {
    return 'It ended as not done, and the EHR is looked at in case it was only late. There is nothing to do; it ends after a day.';
  }
  return reportedUnknown
    ? 'The caller was told that the outcome is unknown, and the EHR is being asked what it has done. There is nothing to do while the EHR can be reached.'
    : 'It was broken off, and a gateway goes on with it at its next attempt. There is nothing to do.';
}
