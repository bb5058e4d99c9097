import { randomUUID } from 'node:crypto';
import type { Connector } from '../connector.ts';
import type { EhrResponse } from '../http.ts';
import { isWrite } from '../sent-writes.ts';
import { changeOverWire, endAll, isUnknown, type KindOfChange, noAnswer } from './example-changes.ts';
import { expectThat, facts } from './expect.ts';
import type { Subject } from './subject.ts';

/** The session of a request that was held back can have ended when it arrives. */
const mostTries = 3;

/**
 * Holds a write back, lets `settleChanges` rule it out, and then lets the write arrive: what was ruled out must not be made.
 */
export async function expectRuledOut(subject: Subject, kind: KindOfChange): Promise<void> {
  const { settleChanges } = subject.connector;
  if (!settleChanges) return;
  for (let attempt = 1; attempt <= mostTries; attempt++) if (await hasArrived(subject, kind, settleChanges)) return;
}

async function hasArrived(
  subject: Subject,
  kind: KindOfChange,
  settleChanges: Connector['settleChanges'] & object,
): Promise<boolean> {
  const since = new Date();
  const example = await kind.prepare(subject);
  let arrive: (() => Promise<EhrResponse>) | undefined;
  const watched = await changeOverWire(subject, example.change, randomUUID(), (request, _, send) => {
    if (!isWrite(request) && !arrive) return undefined;
    arrive ??= send;
    throw noAnswer(request);
  });
  if (!arrive || !isUnknown(watched)) return true;
  const notSeen = [example.change];
  const isRuledOut = await settleChanges({ careUnit: subject.careUnit, made: [], notSeen, since });
  const [answered] = await Promise.allSettled([arrive()]);
  const found = await example.look();
  expectThat(
    !isRuledOut || example.isUndone(found),
    `settleChanges returned true, which rules ${kind.name} out, and its request was made when it arrived later; the EHR shows ${JSON.stringify(found.map(facts))}`,
  );
  await endAll(subject, example);
  return answered.status === 'fulfilled' && answered.value.status !== 401;
}
