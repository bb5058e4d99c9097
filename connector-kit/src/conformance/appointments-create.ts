import { capability, NotClaimed } from './check.ts';
import { expectRefusal, expectSame, expectThat, given } from './expect.ts';
import { foreignResource } from './resources.ts';
import {
  book,
  change,
  creation,
  freeRun,
  freeSlot,
  freeSlots,
  freeWithTwo,
  mustRead,
  patientId,
  takers,
} from './scene.ts';
import type { Subject } from './subject.ts';

type Wrong = Partial<Awaited<ReturnType<typeof creation>>>;

/** Tries a booking that cannot be, and sees that it left nothing behind. */
async function expectRefused(
  subject: Subject,
  kind: Parameters<typeof expectRefusal>[1],
  what: string,
  wrong: Wrong,
): Promise<void> {
  const slot = await freeSlot(subject);
  const right = await creation(subject, slot);
  await expectRefusal(change(subject, { ...right, ...wrong }), kind, `Booking ${what}`);
  expectSame((await takers(subject, slot)).length, 0, `Appointments left by a booking ${what}`);
}

export const appointmentsCreate = capability('create', ({ capabilities }) => capabilities.changes.includes('create'), {
  'books what was asked for': async (subject) => {
    const slot = await freeSlot(subject);
    const made = await book(subject, { slot, comment: 'Æ, ö and 日本 “quoted”' });
    const patient = await patientId(subject);
    for (const appointment of [made, await mustRead(subject, made.id)]) {
      expectSame(appointment.state, 'booked', 'State');
      expectSame([appointment.start, appointment.end], [slot.start, slot.end], 'Time');
      expectSame(appointment.resourceId, slot.resourceId, 'Resource');
      expectSame(appointment.healthcareServiceId, slot.healthcareServiceId, 'Service');
      expectSame(appointment.careUnitId, subject.careUnit.id, 'Care unit');
      expectSame(appointment.comment, 'Æ, ö and 日本 “quoted”', 'Comment');
      expectSame(appointment.heldUntil, null, 'Held until');
      expectThat(appointment.patientId === patient, 'The appointment is for another patient');
    }
  },

  'books without a comment': async (subject) => {
    const { id } = await book(subject, { comment: null });
    expectSame((await mustRead(subject, id)).comment, null, 'Comment of an appointment made without one');
  },

  'books several slots in a row as one time': async (subject) => {
    const run = await freeRun(subject, 3);
    const [first, last] = [given(run[0], 'no slot'), given(run.at(-1), 'no slot')];
    if (subject.facts.oneSlotOnly) {
      await expectRefusal(book(subject, { slot: first, last }), 'time_slot_unavailable', 'Booking several slots');
      expectSame((await takers(subject, first, last)).length, 0, 'Appointments left by a booking of several slots');
      throw new NotClaimed('an appointment of this EHR takes one slot');
    }
    const made = await book(subject, { slot: first, last });
    expectSame([made.start, made.end], [first.start, last.end], 'Time');
    const left = await freeSlots(subject, {
      start: first.start,
      end: last.end,
      resourceIds: [first.resourceId],
      healthcareServiceIds: undefined,
    });
    expectSame(left.length, 0, 'Free slots within a booked time');
  },

  'takes no time that is taken': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot });
    await expectRefusal(book(subject, { slot }), 'time_slot_unavailable', 'Booking a time that is booked');
    expectSame(
      (await takers(subject, slot)).map((it) => it.id),
      [id],
      'Appointments at a time that was wanted twice',
    );
  },

  'takes no time that overlaps a taken one': async (subject) => {
    const run = await freeRun(subject, 3);
    const [first, second, third] = run as [(typeof run)[0], (typeof run)[0], (typeof run)[0]];
    await book(subject, { slot: second });
    for (const [slot, last, words] of [
      [first, third, 'around'],
      [first, second, 'before and over'],
      [second, third, 'over and after'],
    ] as const) {
      await expectRefusal(book(subject, { slot, last }), 'time_slot_unavailable', `Booking ${words} a booked time`);
    }
    await book(subject, { slot: first });
    await book(subject, { slot: third });
  },

  'takes no time that does not start and end with slots': async (subject) => {
    const [first, second] = (await freeRun(subject, 2)) as [Slot, Slot];
    const minute = 60_000;
    for (const [words, start, end] of [
      ['that starts within a slot', new Date(first.start.getTime() + minute), second.end],
      ['that ends within a slot', first.start, new Date(second.end.getTime() - minute)],
      ['that has passed', new Date(Date.now() - 86_400_000), new Date(Date.now() - 86_400_000 + 30 * minute)],
    ] as const) {
      await expectRefused(subject, 'time_slot_unavailable', `a time ${words}`, { start, end });
    }
  },

  'lets a patient have two resources at one time': async (subject) => {
    const [a, b] = await freeWithTwo(subject);
    await book(subject, { slot: a });
    expectSame((await book(subject, { slot: b })).resourceId, b.resourceId, 'Resource of the second booking');
  },

  'refuses who and what is not there': async (subject) => {
    await expectRefused(subject, 'patient_not_found', 'for a patient who does not exist', {
      patientId: 'no-such-patient',
    });
    await expectRefused(subject, 'resource_not_found', 'with a resource that does not exist', {
      resourceId: 'no-such-resource',
    });
    await expectRefused(
      subject,
      ['healthcare_service_not_found', 'time_slot_unavailable'],
      'of a service that does not exist',
      { healthcareServiceId: 'no-such-service' },
    );
  },

  'refuses a resource of another care unit': async (subject) => {
    const { id } = await foreignResource(subject);
    await expectRefused(subject, ['resource_not_found', 'time_slot_unavailable'], 'with a resource of elsewhere', {
      resourceId: id,
    });
  },
});

type Slot = Awaited<ReturnType<typeof freeSlot>>;
