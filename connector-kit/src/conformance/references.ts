import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { capability, claimed } from './check.ts';
import { expectRejection, expectThat, operation } from './expect.ts';
import { oddity, withOdd } from './odd-record-steps.ts';
import { anotherPatientId, book, changes, creation, freeSlot, has, listAllPages, patientId, write } from './steps.ts';
import type { Subject } from './subject.ts';

/** The appointment as it is shown. `undefined`: it is left out, or refused as one that cannot be read. */
async function shown({ connector, careUnit }: Subject, id: string): Promise<Appointment | undefined> {
  const find = operation(connector, 'findAppointments');
  const found = await find(careUnit, [id]).catch((error: unknown) => {
    if (error instanceof ConnectorError && error.kind === 'rejected') return [];
    throw error;
  });
  return found.find((it) => it.id === id);
}

export const references = capability(
  'references',
  ({ findPatient, findAppointments }) => findPatient !== undefined || findAppointments !== undefined,
  {
    'a patient of another server is not the local one with the same id': claimed(
      [has('findAppointments')],
      async (subject) => {
        const nameForeignPatient = oddity(subject, 'nameForeignPatient');
        const made = await book(subject);
        const mine = await patientId(subject);
        await withOdd(nameForeignPatient(made), async () => {
          const found = await shown(subject, made.id);
          expectThat(found?.patientId !== mine, 'The patient of another server is taken for the local one');
          const listed = (await listAllPages(subject, { patientId: mine })).some(({ id }) => id === made.id);
          expectThat(!listed, 'An appointment of another server’s patient is listed for the local one');
        });
      },
    ),

    'a resource of another server is not the local one with the same id': claimed(
      [has('findAppointments')],
      async (subject) => {
        const nameForeignResource = oddity(subject, 'nameForeignResource');
        const made = await book(subject);
        await withOdd(nameForeignResource(made), async () => {
          const found = await shown(subject, made.id);
          const isTaken = found !== undefined && found.resourceId === made.resourceId;
          expectThat(!isTaken, 'The resource of another server is taken for the local one');
        });
      },
    ),

    'a patient replaced by one of another server is not booked, nor the local one with that id': claimed(
      [has('findPatient'), changes('create')],
      async (subject) => {
        const replaceByForeignPatient = oddity(subject, 'replaceByForeignPatient');
        const [mine, other] = [await patientId(subject), anotherPatientId(subject)];
        const slot = await freeSlot(subject);
        await withOdd(replaceByForeignPatient(mine, other), async () => {
          const found = await operation(subject.connector, 'findPatient')({ type: 'emr_id', value: mine });
          expectThat(found?.id !== other, 'The replacement at another server is taken for a local patient');
          expectThat(found === null || found.isInactive === true, 'A patient can be booked who has been replaced');
          const booked = write(subject, [await creation(subject, slot, { patientId: mine })]);
          await expectRejection(
            booked,
            ['patient_inactive', 'patient_not_found', 'rejected'],
            'Booking a patient who has been replaced by one of another server',
          );
        });
      },
    ),
  },
);
