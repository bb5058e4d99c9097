import { randomUUID } from 'node:crypto';
import type { EhrRequest, EhrResponse } from '../http.ts';
import { isWrite } from '../sent-writes.ts';
import { capability, claimed } from './check.ts';
import {
  changeOverWire,
  type ExampleChange,
  endAll,
  expectAsTold,
  expectRecovery,
  isUnknown,
  type KindOfChange,
  kindsOfChange,
  noAnswer,
} from './example-changes.ts';
import { directChange, expectThat } from './expect.ts';
import { expectRuledOut } from './settled-writes.ts';
import { freeSlots } from './steps.ts';
import type { Subject } from './subject.ts';
import { type OnTheWire, unwatched } from './watched-calls.ts';

/** What happens to a request that writes. */
type Fault = (request: EhrRequest, send: () => Promise<EhrResponse>) => Promise<EhrResponse>;

/** After this one, no request of the call gets an answer. */
const silence = 'its answer was lost and the EHR fell silent';

/** Each happens to one request that writes. */
const faults: Readonly<Record<string, Fault>> = {
  'its request was lost': async (request) => {
    throw noAnswer(request);
  },
  'its answer was lost': async (request, send) => {
    await send();
    throw noAnswer(request);
  },
  [silence]: async (request, send) => {
    await send();
    throw noAnswer(request);
  },
  'its answer was cut in the middle': async (_, send) => {
    const response = await send();
    return { ...response, text: response.text.slice(0, response.text.length / 2) };
  },
  'a proxy answered 500 after it': async (_, send) => {
    await send();
    return { status: 500, headers: { 'content-type': 'text/html' }, text: '<!doctype html><title>Error</title>' };
  },
};
const lostRequestsAndAnswers = Object.entries(faults).slice(0, 2);

/** The most requests that write in one call that the faults happen to. */
const mostWrites = 4;

/** Lets each fault happen to each request that writes, and compares what the port says with what the EHR holds. */
async function expectTruth(
  subject: Subject,
  kind: KindOfChange,
  chosen: readonly (readonly [string, Fault])[],
): Promise<void> {
  for (const [fault, happen] of chosen) {
    for (let place = 0, writes = 1; place < Math.min(writes, mostWrites); place++) {
      const since = new Date();
      const example = await kind.prepare(subject);
      const operationId = randomUUID();
      let isSilent = false;
      const watched = await changeOverWire(subject, example.change, operationId, (request, soFar, send) => {
        if (isSilent) throw noAnswer(request);
        if (soFar.writes !== place || !isWrite(request)) return undefined;
        isSilent = fault === silence;
        return happen(request, send);
      });
      writes = watched.writes;
      const happened = writes > 1 ? `${fault}, of its request ${place + 1} that writes` : fault;
      await expectAsTold(kind.name, example, watched, happened);
      await expectTaken(subject, example, `${kind.name}, when ${happened},`);
      if (isUnknown(watched)) await expectRecovery(subject, kind.name, example, { operationId, since, happened });
      await endAll(subject, example);
    }
  }
}

/** The time of what is booked is free for nobody. */
async function expectTaken(subject: Subject, example: ExampleChange, what: string): Promise<void> {
  for (const { resourceId, start, end } of await example.look()) {
    if (resourceId === null || end === null) continue;
    const free = await freeSlots(subject, { start, end, resourceIds: [resourceId], healthcareServiceIds: undefined });
    expectThat(free.length === 0, `${what} left its time free, although the EHR has the appointment`);
  }
}

/**
 * The gateway's HTTP client sends a `repeatable` request again if it got no answer. Here each one arrives twice.
 *
 * @param meanwhile runs between the two arrivals of a request that writes
 */
function arrivingTwice(meanwhile: () => Promise<void>): OnTheWire {
  return (request, _, send) => {
    if (!request.repeatable || request.method === 'GET') return undefined;
    return (async () => {
      await send();
      if (isWrite(request)) await unwatched(meanwhile);
      return send();
    })();
  };
}

const nothing = async () => undefined;
const claimedKinds = (subject: Subject) => Object.values(kindsOfChange).filter((it) => it.isClaimed(subject));

const ofKind = (kind: KindOfChange, chosen = lostRequestsAndAnswers) =>
  claimed([kind.isClaimed], async (subject) => {
    await expectTruth(subject, kind, chosen);
    await expectRuledOut(subject, kind);
  });

export const lostAnswers = capability(
  'lost-answers',
  (connector) => connector.capabilities.changes.includes('create'),
  {
    'the EHR holds what was told of a booking': ofKind(kindsOfChange.booking, Object.entries(faults)),
    'the EHR holds what was told of a move': ofKind(kindsOfChange.move, Object.entries(faults)),
    'the EHR holds what was told of a comment': ofKind(kindsOfChange.comment),
    'the EHR holds what was told of a cancellation': ofKind(kindsOfChange.cancellation),
    'the EHR holds what was told of a confirmation': ofKind(kindsOfChange.confirmation),
    'the EHR holds what was told of a release': ofKind(kindsOfChange.release),

    'a request that is repeatable does nothing when it arrives again': async (subject) => {
      for (const kind of claimedKinds(subject)) {
        const example = await kind.prepare(subject);
        const watched = await changeOverWire(subject, example.change, randomUUID(), arrivingTwice(nothing));
        await expectAsTold(kind.name, example, watched, 'its repeatable requests arrived twice');
        await endAll(subject, example);
      }
    },

    'a request that is repeatable does not undo what staff have done since it arrived': async (subject) => {
      const cancel = directChange(subject, 'cancel');
      for (const kind of claimedKinds(subject)) {
        if (kind === kindsOfChange.cancellation || kind === kindsOfChange.release) continue;
        const example = await kind.prepare(subject);
        let isCancelled = false;
        const byStaff = async () => {
          const found = await example.look();
          const [made] = example.isDone(found) && !isCancelled ? found : [];
          if (!made) return;
          await cancel(made);
          isCancelled = true;
        };
        await changeOverWire(subject, example.change, randomUUID(), arrivingTwice(byStaff));
        const found = await example.look();
        expectThat(
          !isCancelled || found.length === 0,
          `${kind.name} was made, staff cancelled the appointment, and a request that arrived again has revived it: it must not be repeatable`,
        );
        await endAll(subject, example);
      }
    },
  },
);
