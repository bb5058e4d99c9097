import { adviceFor } from '../unfinished-writes/advice.ts';
import type { OpenWrite } from '../unfinished-writes/operator.ts';

/** Describes an operation for operators, with advice on what to do. */
export function describeOperation(operation: OpenWrite): string {
  const { id, emr, careUnitId, kind, clientId, isKeyed, state, attempt, failures, lastFailure } = operation;
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
  return `${table}\n${nextStep(operation)}\n`;
}

function responseOf({ hasResponse, reportedUnknown }: OpenWrite): string {
  if (hasResponse) return 'stored response';
  return reportedUnknown ? 'outcome_unknown' : 'nothing';
}

function time(instant: Date | null): string {
  return instant?.toISOString() ?? 'none';
}

function nextStep(operation: OpenWrite): string {
  const { needsOperator, text } = adviceFor(operation);
  if (!needsOperator) return text;
  const { id } = operation;
  return (
    `${text} Fix the cause and run \`operations retry ${id}\`, or check the appointment in ` +
    `the EHR and run \`operations drop ${id} --yes\`.`
  );
}
