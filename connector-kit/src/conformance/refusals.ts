import { randomUUID } from 'node:crypto';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import { isWrite } from '../sent-writes.ts';
import { capability } from './check.ts';
import { changeOverWire, endAll, kindsOfChange } from './example-changes.ts';
import { describe, expectThat } from './expect.ts';
import type { Subject } from './subject.ts';

/** A connector may sign in again, look again, and try once more. */
const mostAfterRefusal = 4;
/** It may look for what became of each attempt. */
const mostAfterFailure = 10;

/** Each request that writes is answered with this status, and does not reach the EHR. */
async function expectTold(
  subject: Subject,
  { status, kinds, most }: { status: number; kinds: readonly ConnectorErrorKind[]; most: number },
): Promise<void> {
  const text = JSON.stringify({ error: 'refused' });
  for (const { name, isClaimed, prepare } of Object.values(kindsOfChange)) {
    if (!isClaimed(subject)) continue;
    const example = await prepare(subject);
    let sent = 0;
    const { outcome } = await changeOverWire(subject, example.change, randomUUID(), (request) => {
      if (!isWrite(request)) return undefined;
      sent++;
      return Promise.resolve({ status, headers: { 'content-type': 'application/json' }, text });
    });
    expectThat(sent <= most, `The request of ${name} was sent ${sent} times to an EHR that answers ${status}`);
    expectThat(
      outcome.status === 'rejected',
      `${name} was told as made, and the EHR answered ${status} to its request`,
    );
    const isTold = outcome.reason instanceof ConnectorError && kinds.includes(outcome.reason.kind);
    expectThat(
      isTold,
      `${name}: expected ${kinds.join(' or ')} after status ${status}, got ${describe(outcome.reason)}`,
    );
    expectThat(example.isUndone(await example.look()), `${name} was made, although the EHR answered ${status}`);
    await endAll(subject, example);
  }
}

export const refusals = capability('refusals', (connector) => connector.capabilities.changes.includes('create'), {
  'a write that is forbidden is told as rejected, and is not repeated': (subject) =>
    expectTold(subject, { status: 403, kinds: ['rejected', 'change_not_allowed'], most: mostAfterRefusal }),

  'a write that the EHR fails at is told as unknown, and is not repeated': (subject) =>
    expectTold(subject, { status: 500, kinds: ['outcome_unknown', 'rejected'], most: mostAfterFailure }),
});
