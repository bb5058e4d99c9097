import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppointmentChange } from '../connector.ts';
import { capability } from './check.ts';
import { expectRefusal, expectSame, facts, given, operation } from './expect.ts';
import { book, change, creation, freeRun, freeSlot, mustRead, needs, takers } from './scene.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

function findOperation({ connector, careUnit }: Subject, operationId: string) {
  return operation(connector, 'findOperation')(careUnit, operationId);
}

/** How long a write is left to itself before its connector is ended, in milliseconds. */
const moments = [0, 1, 2, 4, 8, 16, 32, 64];

export const operationIds = capability('operation-ids', (connector) => connector.findOperation !== undefined, {
  'that were never used are answered with null': async (subject) => {
    expectSame(await findOperation(subject, randomUUID()), null, 'Answer for an operation id that was never used');
  },

  'find what a write left behind': async (subject) => {
    needs(subject, 'create');
    const operationId = randomUUID();
    const made = await change(subject, await creation(subject, await freeSlot(subject)), { operationId });
    const found = given(await findOperation(subject, operationId), 'nothing was found');
    expectSame(found.map(facts), [facts(made)], 'What the operation left behind');
  },

  'do not book again': async (subject) => {
    needs(subject, 'create');
    const slot = await freeSlot(subject);
    const booking = await creation(subject, slot, { comment: 'first' });
    const operationId = randomUUID();
    const first = await change(subject, booking, { operationId });
    for (const comment of ['first', 'another']) {
      const again = await change(subject, { ...booking, comment }, { operationId });
      expectSame(facts(again), facts(first), 'Answer to a write that was done before');
    }
    expectSame((await takers(subject, slot)).length, 1, 'Appointments made by three writes with one operation id');
  },

  'do not book again at the same moment': async (subject) => {
    needs(subject, 'create');
    const slot = await freeSlot(subject);
    const booking = await creation(subject, slot);
    const operationId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const through = index % 2 ? (subject.second ?? subject.connector) : subject.connector;
        return change(subject, booking, { operationId, through });
      }),
    );
    expectSame(new Set(answers.map(({ id }) => id)).size, 1, 'Appointments that ten writes with one id answered');
    expectSame((await takers(subject, slot)).length, 1, 'Appointments that ten writes with one id made');
  },

  'do not move or cancel again': async (subject) => {
    needs(subject, 'create', 'update', 'cancel');
    const [a, b, c] = (await freeRun(subject, 3)) as [Slot, Slot, Slot];
    const { id } = await book(subject, { slot: a });
    const move: AppointmentChange = { kind: 'update', appointmentId: id, time: { start: b.start, end: b.end } };
    const operationId = randomUUID();
    const moved = await change(subject, move, { operationId });
    const next: AppointmentChange = { ...move, appointmentId: moved.id, time: { start: c.start, end: c.end } };
    const movedOn = await change(subject, next);
    await change(subject, move, { operationId });
    expectSame((await mustRead(subject, movedOn.id)).start, c.start, 'Start after a former move was sent again');
    const cancel: AppointmentChange = { kind: 'cancel', appointmentId: movedOn.id, comment: 'why' };
    const cancellation = randomUUID();
    await change(subject, cancel, { operationId: cancellation });
    const again = await change(subject, { ...cancel, comment: 'again' }, { operationId: cancellation });
    expectSame([again.state, again.comment], ['cancelled', 'why'], 'State and comment when a cancellation comes again');
  },

  'of a failed write are free to be used': async (subject) => {
    needs(subject, 'create');
    const [slot, other] = (await freeRun(subject, 2)) as [Slot, Slot];
    await book(subject, { slot });
    const operationId = randomUUID();
    const refused = change(subject, await creation(subject, slot), { operationId });
    await expectRefusal(refused, 'time_slot_unavailable', 'Booking a taken time');
    expectSame(await findOperation(subject, operationId), null, 'Answer for the id of a write that failed');
    const made = await change(subject, await creation(subject, other), { operationId });
    expectSame(made.start, other.start, 'Start of a booking with the id of a write that failed');
  },

  'tell what became of a write when the connector is killed, and let it be done once': async (subject) => {
    needs(subject, 'create');
    const restart = given(subject.restart, 'the subject cannot be killed');
    for (const moment of moments) {
      const slot = await freeSlot(subject);
      const booking = await creation(subject, slot);
      const operationId = randomUUID();
      const first = change(subject, booking, { operationId }).catch(() => undefined);
      await sleep(moment);
      await restart();
      await first;
      const before = await findOperation(subject, operationId);
      const taken = await takers(subject, slot);
      expectSame(before?.length ?? 0, taken.length, `Appointments known by the id, killed after ${moment} ms`);
      const made = await change(subject, booking, { operationId });
      const after = await takers(subject, slot);
      expectSame(
        after.map(({ id }) => id),
        [made.id],
        `Appointments after the retry, killed after ${moment} ms`,
      );
    }
  },
});
