import { randomUUID } from 'node:crypto';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import type { EhrRequest, EhrResponse } from '../http.ts';
import { capability, claimed } from './check.ts';
import {
  changeOverWire,
  endAll,
  expectAsTold,
  expectRecovery,
  isUnknown,
  type KindOfChange,
  kindsOfChange,
} from './example-changes.ts';
import { expectThat } from './expect.ts';
import type { Subject } from './subject.ts';

/** What a request that follows a write gets. `place`: 0 for the first. `undefined`: it is sent. */
type Later = (request: EhrRequest, place: number) => Promise<EhrResponse> | undefined;

const fails =
  (kind: ConnectorErrorKind, retryAfterSeconds?: number): Later =>
  async () => {
    throw new ConnectorError(kind, 'A failure of the kit', retryAfterSeconds ? { retryAfterSeconds } : {});
  };
const answers =
  (status: number, contentType: string, text: string): Later =>
  async () => ({ status, headers: { 'content-type': contentType }, text });

const everyFailure: Readonly<Record<string, Later>> = {
  '503': fails('unavailable'),
  '429': fails('unavailable', 600),
  'a cut connection': (request, place) =>
    fails(request.repeatable ? 'connection_closed' : 'outcome_unknown')(request, place),
  'a page in HTML': answers(200, 'text/html', '<!doctype html><title>Sign in</title>'),
  'half of its JSON': answers(200, 'application/json', '{"id'),
  // Those that follow are sent: the connector may sign in again.
  'the end of its session': (request, place) =>
    place === 0 ? answers(401, 'application/json', '')(request, place) : undefined,
};
const someFailures = Object.entries(everyFailure).filter((_, index) => index % 3 === 0);

async function expectNotDenied(
  subject: Subject,
  kind: KindOfChange,
  failures: readonly (readonly [string, Later])[],
): Promise<void> {
  for (const [failure, later] of failures) {
    const since = new Date();
    const example = await kind.prepare(subject);
    const operationId = randomUUID();
    const watched = await changeOverWire(subject, example.change, operationId, (request, { sinceWrite }) =>
      sinceWrite === undefined ? undefined : later(request, sinceWrite),
    );
    const happened = `the request after it got ${failure}`;
    await expectAsTold(kind.name, example, watched, happened);
    if (isUnknown(watched)) await expectRecovery(subject, kind.name, example, { operationId, since, happened });
    await endAll(subject, example);
  }
}

export const failedReads = capability(
  'failed-reads',
  (connector) => connector.capabilities.changes.includes('create'),
  {
    'says which request writes': async (subject) => {
      for (const { name, isClaimed, prepare } of Object.values(kindsOfChange)) {
        if (!isClaimed(subject)) continue;
        const example = await prepare(subject);
        const watched = await changeOverWire(subject, example.change, randomUUID());
        if (watched.outcome.status === 'rejected') throw watched.outcome.reason;
        expectThat(
          watched.isWritten,
          `The connector has made ${name}, and none of its requests says so: see "writes" and "refused" of EhrRequest`,
        );
        await endAll(subject, example);
      }
    },

    'a booking is not told as not made when the requests after it fail': (subject) =>
      expectNotDenied(subject, kindsOfChange.booking, Object.entries(everyFailure)),

    'a move is not told as not made when the requests after it fail': claimed(
      [kindsOfChange.move.isClaimed],
      (subject) => expectNotDenied(subject, kindsOfChange.move, someFailures),
    ),

    'a cancellation is not told as not made when the requests after it fail': claimed(
      [kindsOfChange.cancellation.isClaimed],
      (subject) => expectNotDenied(subject, kindsOfChange.cancellation, someFailures),
    ),
  },
);
