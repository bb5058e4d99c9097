import { randomUUID } from 'node:crypto';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import type { EhrResponse } from '../http.ts';
import { isWrite } from '../sent-writes.ts';
import { capability } from './check.ts';
import { changeOverWire, endAll, kindsOfChange } from './example-changes.ts';
import { describe, expectThat } from './expect.ts';
import type { Subject } from './subject.ts';
import { expectNoTextOfEhr, pageInHtml, refusalInJson } from './text-of-ehr.ts';

/** A connector may sign in again, look again, and try once more. */
const mostAfterRefusal = 4;
/** It may look for what became of each attempt. */
const mostAfterFailure = 10;
/** One request, and the same once more after a sign-in. */
const mostAlike = 2;

const headers = { 'content-type': 'application/json' };
const forbidden: EhrResponse = { status: 403, headers, text: refusalInJson };
const failed: EhrResponse = { ...forbidden, status: 500 };
/** As a proxy answers, or another server behind a wrong URL: the EHR has not said that anything is unknown. */
const page: EhrResponse = { status: 404, headers: { 'content-type': 'text/html' }, text: pageInHtml };

interface Told {
  readonly response: EhrResponse;
  readonly kinds: readonly ConnectorErrorKind[];
  /** How many requests that write, and how many that are alike. */
  readonly most: number;
  readonly mostAlike: number;
}

/** Each request that writes gets this answer, and does not reach the EHR. */
async function expectTold(subject: Subject, { response, kinds, most, mostAlike }: Told): Promise<void> {
  const { status } = response;
  for (const { name, isClaimed, prepare } of Object.values(kindsOfChange)) {
    if (!isClaimed(subject)) continue;
    const example = await prepare(subject);
    const sent: string[] = [];
    const { outcome } = await changeOverWire(subject, example.change, randomUUID(), (request) => {
      if (!isWrite(request)) return undefined;
      sent.push(`${request.method} ${request.url} ${String(request.body)}`);
      return Promise.resolve(response);
    });
    expectThat(
      sent.length <= most,
      `The request of ${name} was sent ${sent.length} times to an EHR that answers ${status}`,
    );
    const alike = Math.max(...sent.map((it) => sent.filter((other) => other === it).length), 0);
    expectThat(alike <= mostAlike, `${name} sent the same request ${alike} times to an EHR that answers ${status}`);
    expectThat(
      outcome.status === 'rejected',
      `${name} was told as made, and the EHR answered ${status} to its request`,
    );
    expectNoTextOfEhr(outcome.reason, name);
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
  'a write that is forbidden is told as rejected, and is not repeated': async (subject) => {
    const most = { most: mostAfterRefusal, mostAlike };
    await expectTold(subject, { response: forbidden, kinds: ['rejected', 'change_not_allowed'], ...most });
    await expectTold(subject, { response: page, kinds: ['rejected', 'outcome_unknown', 'unavailable'], ...most });
  },

  'a write that the EHR fails at is told as unknown, and is not repeated': (subject) =>
    expectTold(subject, {
      response: failed,
      kinds: ['outcome_unknown', 'rejected'],
      most: mostAfterFailure,
      mostAlike: mostAfterFailure,
    }),
});
