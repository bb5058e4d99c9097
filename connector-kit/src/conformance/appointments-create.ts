import { isAttendance, isModality } from '../records.ts';
import { type Claim, capability, claimed } from './check.ts';
import { expectRejection, expectSame, expectThat, given } from './expect.ts';
import { foreignResource } from './resources.ts';
import {
  appointmentsAt,
  book,
  change,
  changes,
  consecutiveSlots,
  creation,
  detailsOf,
  freeSlot,
  freeSlots,
  mustRead,
  not,
  passesPatients,
  patientId,
  simultaneousSlots,
  takesOneSlot,
} from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;
type InvalidFields = Partial<Awaited<ReturnType<typeof creation>>>;

/** Expects an invalid booking to be rejected without creating an appointment. */
async function expectBookingRejected(
  subject: Subject,
  kind: Parameters<typeof expectRejection>[1],
  what: string,
  invalid: InvalidFields,
): Promise<void> {
  const slot = await freeSlot(subject);
  const valid = await creation(subject, slot);
  await expectRejection(change(subject, { ...valid, ...invalid }), kind, `Booking ${what}`);
  expectSame((await appointmentsAt(subject, slot)).length, 0, `Appointments created by a rejected booking ${what}`);
}

/** A service of the care unit that a free time is not for. `undefined`: there is none. */
async function serviceOfOtherTimes(subject: Subject, { start, end, resourceId }: Slot): Promise<string | undefined> {
  const services = (await subject.connector.listHealthcareServices?.(subject.careUnit)) ?? [];
  const there = { start, end, resourceIds: [resourceId], healthcareServiceIds: undefined };
  const offered = (await freeSlots(subject, there)).map(({ healthcareServiceId }) => healthcareServiceId);
  return services.map(({ id }) => id).find((id) => !offered.includes(id));
}

/** What the gateway accepts without `commentLength`. */
export const longestComment = 2000;

/** Whether an id of an appointment may be as long as it likes. */
function mayBeLong({ appointmentIdsNamePatients, longAppointmentIds }: Subject['connector']['capabilities']): boolean {
  return appointmentIdsNamePatients === true || longAppointmentIds === true;
}

/** Whether FHIR can name it: https://hl7.org/fhir/R4/datatypes.html#id, or so few bytes that base 64 fits. */
function isNameable(id: string): boolean {
  return /^[A-Za-z0-9.-]{1,64}$/.test(id) || Buffer.byteLength(id) <= 45;
}

const takesDetails: Claim = ({ connector }) => connector.capabilities.patientDetails !== undefined;

export const appointmentsCreate = capability('create', ({ capabilities }) => capabilities.changes.includes('create'), {
  'books the requested patient, resource, service, time and comment': async (subject) => {
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
      expectThat(appointment.patientId === patient, 'The appointment belongs to another patient');
      expectThat(isModality(appointment.modality), 'The modality is none of the port');
      expectThat(isAttendance(appointment.attendance), 'The attendance is none of the port');
    }
    expectThat(
      mayBeLong(subject.connector.capabilities) || isNameable(made.id),
      'The id is too long for FHIR, and longAppointmentIds is not claimed',
    );
    const { notice } = await mustRead(subject, made.id);
    expectThat((notice ?? null) === null, 'An appointment that is only read has a notice');
  },

  'books with and without a phone number and an e-mail address of the patient': claimed(
    [takesDetails],
    async (subject) => {
      const names = { ...detailsOf(subject), phone: null, email: null };
      for (const patientDetails of [names, { ...names, phone: '+46701740605', email: 'test.person@example.org' }]) {
        const slot = await freeSlot(subject);
        const made = await change(subject, { ...(await creation(subject, slot)), patientDetails });
        expectSame((await mustRead(subject, made.id)).state, 'booked', 'State of an appointment with details');
      }
    },
  ),

  'books without a comment': async (subject) => {
    const { id } = await book(subject, { comment: null });
    expectSame((await mustRead(subject, id)).comment, null, 'Comment of an appointment created without a comment');
  },

  'keeps comments of the greatest length': async (subject) => {
    const { commentLength = longestComment } = subject.connector.capabilities;
    const [first, second] = ['å', 'ö'].map((letter) => letter.repeat(commentLength)) as [string, string];
    const { id } = await book(subject, { comment: first });
    const isKept = (await mustRead(subject, id)).comment === first;
    expectThat(isKept, `A comment of ${commentLength} characters is not kept by a booking`);
    if (!changes('update')(subject)) return;
    const changed = await change(subject, { kind: 'update', appointmentId: id, comment: second });
    const isChanged = (await mustRead(subject, changed.id)).comment === second;
    expectThat(isChanged, `A comment of ${commentLength} characters is not kept by an update`);
  },

  'rejects a booking of several slots if an appointment takes one': claimed([takesOneSlot], async (subject) => {
    const [first, second] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const several = book(subject, { slot: first, last: second });
    await expectRejection(several, 'time_slot_unavailable', 'Booking several slots');
    const made = await appointmentsAt(subject, first, second);
    expectSame(made.length, 0, 'Appointments created by a rejected booking of several slots');
  }),

  'books several consecutive slots as one appointment': claimed([not(takesOneSlot)], async (subject) => {
    const run = await consecutiveSlots(subject, 3);
    const [first, last] = [given(run[0], 'no slot'), given(run.at(-1), 'no slot')];
    const made = await book(subject, { slot: first, last });
    expectSame([made.start, made.end], [first.start, last.end], 'Time');
    const left = await freeSlots(subject, {
      start: first.start,
      end: last.end,
      resourceIds: [first.resourceId],
      healthcareServiceIds: undefined,
    });
    expectSame(left.length, 0, 'Free slots within the booked time');
  }),

  'rejects a time that is already booked': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot });
    await expectRejection(book(subject, { slot }), 'time_slot_unavailable', 'Booking a booked time');
    expectSame(
      (await appointmentsAt(subject, slot)).map((it) => it.id),
      [id],
      'Appointments at a time that was requested twice',
    );
  },

  'rejects a time that overlaps a booked one': async (subject) => {
    const run = await consecutiveSlots(subject, 3);
    const [first, second, third] = run as [(typeof run)[0], (typeof run)[0], (typeof run)[0]];
    await book(subject, { slot: second });
    for (const [slot, last, words] of [
      [first, third, 'that contains'],
      [first, second, 'that ends inside'],
      [second, third, 'that starts inside'],
    ] as const) {
      await expectRejection(
        book(subject, { slot, last }),
        'time_slot_unavailable',
        `Booking a time ${words} a booked one`,
      );
    }
    await book(subject, { slot: first });
    await book(subject, { slot: third });
  },

  'rejects a time that does not start and end on slot boundaries': async (subject) => {
    const [first, second] = (await consecutiveSlots(subject, 2)) as [Slot, Slot];
    const minute = 60_000;
    for (const [words, start, end] of [
      ['that starts inside a slot', new Date(first.start.getTime() + minute), second.end],
      ['that ends inside a slot', first.start, new Date(second.end.getTime() - minute)],
      ['in the past', new Date(Date.now() - 86_400_000), new Date(Date.now() - 86_400_000 + 30 * minute)],
    ] as const) {
      await expectBookingRejected(subject, 'time_slot_unavailable', `a time ${words}`, { start, end });
    }
  },

  'books two resources for one patient at the same time': async (subject) => {
    const [a, b] = await simultaneousSlots(subject);
    await book(subject, { slot: a });
    expectSame((await book(subject, { slot: b })).resourceId, b.resourceId, 'Resource of the second booking');
  },

  'rejects an unknown patient, resource or healthcare service': async (subject) => {
    // An EHR without a look-up may book for any valid number.
    if (!passesPatients(subject)) {
      const unknown = (subject.facts.unknownPatients ?? []).filter(({ type }) => type === 'emr_id');
      for (const patientId of new Set(['no-such-patient', ...unknown.map(({ value }) => value)]))
        await expectBookingRejected(subject, 'patient_not_found', 'for a patient who does not exist', { patientId });
    }
    await expectBookingRejected(subject, 'resource_not_found', 'with a resource that does not exist', {
      resourceId: 'no-such-resource',
    });
    await expectBookingRejected(
      subject,
      ['healthcare_service_not_found', 'time_slot_unavailable'],
      'of a service that does not exist',
      { healthcareServiceId: 'no-such-service' },
    );
    const healthcareServiceId = await serviceOfOtherTimes(subject, await freeSlot(subject));
    if (healthcareServiceId === undefined) return;
    await expectBookingRejected(
      subject,
      ['healthcare_service_not_found', 'time_slot_unavailable'],
      'of a service that the time is not for',
      { healthcareServiceId },
    );
  },

  'rejects a resource of another care unit': async (subject) => {
    const { id } = await foreignResource(subject);
    await expectBookingRejected(
      subject,
      ['resource_not_found', 'time_slot_unavailable'],
      'with a resource of another care unit',
      {
        resourceId: id,
      },
    );
  },
});
