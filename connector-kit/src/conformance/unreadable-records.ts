import type { PatientIdentifier } from '../identifiers.ts';
import { capability, claimed } from './check.ts';
import { expectRejection, expectSame, expectThat, facts, given, operation } from './expect.ts';
import { oddity, withOdd } from './odd-record-steps.ts';
import { book, consecutiveSlots, freeSlots, has, listAllPages, mustRead, patientId } from './steps.ts';
import type { Subject } from './subject.ts';

/** JSON Pointer: https://www.rfc-editor.org/rfc/rfc6901 */
const pointer = /^(\/[^/]*)*$/;

/** Runs a read, and checks that it counts what it leaves out, without anything of the patient in it. */
async function counting(subject: Subject, what: string, read: () => Promise<void>): Promise<void> {
  const { leftOut } = given(subject.oddRecords, 'nobody sees what the connector counts');
  const before = leftOut.length;
  await read();
  const counted = leftOut.slice(before);
  expectThat(counted.length > 0, `${what} that cannot be read is left out without a call of leftOut`);
  const values = (subject.facts.patient ?? []).filter(({ type }) => type !== 'emr_id').map(({ value }) => value);
  for (const { type, path } of counted) {
    expectThat(pointer.test(path), `The path of ${what} that is left out is not a JSON Pointer`);
    const isPersonal = values.some((it) => path.includes(it) || type.includes(it));
    expectThat(!isPersonal, `The path of ${what} that is left out has a number of the patient`);
  }
}

export const unreadableRecords = capability(
  'unreadable-records',
  ({ findPatient, listAppointments, listTimeSlots }) =>
    findPatient !== undefined || listAppointments !== undefined || listTimeSlots !== undefined,
  {
    'an appointment that cannot be read hides no other, and is counted': claimed(
      [has('listAppointments')],
      async (subject) => {
        const breakAppointment = oddity(subject, 'breakAppointment');
        const [bad, good] = [await book(subject), await book(subject)];
        const mine = await patientId(subject);
        await withOdd(breakAppointment(bad), () =>
          counting(subject, 'An appointment', async () => {
            const listed = (await listAllPages(subject, { patientId: mine })).map(({ id }) => id);
            expectThat(!listed.includes(bad.id), 'An appointment is listed that cannot be read');
            expectThat(listed.includes(good.id), 'An appointment is not listed beside one that cannot be read');
          }),
        );
      },
    ),

    'an appointment that cannot be read is not gone when it is read alone': claimed(
      [has('findAppointments')],
      async (subject) => {
        const { connector, careUnit } = subject;
        const breakAppointment = oddity(subject, 'breakAppointment');
        const [bad, good] = [await book(subject), await book(subject)];
        await withOdd(breakAppointment(bad), async () => {
          const found = operation(connector, 'findAppointments')(careUnit, [bad.id]);
          await expectRejection(found, 'rejected', 'Reading an appointment that cannot be read');
          expectSame(facts(await mustRead(subject, good.id)), facts(good), 'An appointment beside one that is broken');
        });
      },
    ),

    'a patient who cannot be read is not unknown': claimed([has('findPatient')], async (subject) => {
      const { connector } = subject;
      const breakPatient = oddity(subject, 'breakPatient');
      const identifiers: readonly PatientIdentifier[] = given(subject.facts.patient, 'no patient is given');
      await withOdd(breakPatient(await patientId(subject)), async () => {
        for (const identifier of identifiers) {
          const found = operation(connector, 'findPatient')(identifier);
          await expectRejection(found, 'rejected', `Finding a patient who cannot be read, by ${identifier.type}`);
        }
      });
    }),

    'a time slot that cannot be read hides no other, and is counted': claimed(
      [has('listTimeSlots')],
      async (subject) => {
        const breakTimeSlot = oddity(subject, 'breakTimeSlot');
        const slots = await consecutiveSlots(subject, 2);
        const [bad, good] = slots.map(({ start }) => start.getTime());
        const [first, last] = slots;
        const range = { start: first?.start ?? new Date(), end: last?.end ?? new Date() };
        await withOdd(breakTimeSlot(given(first, 'the EHR has no free slot')), () =>
          counting(subject, 'A time slot', async () => {
            const resourceIds = [first?.resourceId ?? ''];
            const listed = (await freeSlots(subject, { ...range, resourceIds })).map(({ start }) => start.getTime());
            expectThat(!listed.includes(bad ?? 0), 'A time slot is listed that cannot be read');
            expectThat(listed.includes(good ?? 0), 'A time slot is not listed beside one that cannot be read');
          }),
        );
      },
    ),
  },
);
