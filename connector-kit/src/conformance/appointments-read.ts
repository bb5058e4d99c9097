import type { AppointmentQuery } from '../connector.ts';
import { assertComplete } from '../records.ts';
import { type Claim, capability, claimed } from './check.ts';
import { expectRejection, expectSame, expectThat, facts, given, operation } from './expect.ts';
import { inEveryTimeZone } from './process-time-zone.ts';
import {
  anotherPatientId,
  appointmentsAt,
  book,
  change,
  changes,
  forgetsCancelled,
  freeSlot,
  listAllPages,
  listsByPatientOnly,
  mustRead,
  passesPatients,
  patientId,
} from './steps.ts';
import type { Subject } from './subject.ts';

async function shows(subject: Subject, id: string, query: Partial<AppointmentQuery>): Promise<boolean> {
  return (await listAllPages(subject, query)).some((appointment) => appointment.id === id);
}

const idsNamePatients: Claim = ({ connector }) => connector.capabilities.appointmentIdsNamePatients ?? false;

/** The identifier in the id of a patient who passes through, without its type. */
function numberIn(patient: string): string {
  return patient.slice(patient.indexOf(':') + 1);
}

export const appointmentsRead = capability(
  'appointments-read',
  ({ findAppointments, listAppointments }) => findAppointments !== undefined || listAppointments !== undefined,
  {
    'finds an appointment by id, exactly as it was created': async (subject) => {
      const made = await book(subject, { comment: 'Original comment' });
      expectSame(facts(await mustRead(subject, made.id)), facts(made), 'An appointment, found by its id');
    },

    'ids of appointments contain the identifier of the patient only if that is claimed': claimed(
      [passesPatients],
      async (subject) => {
        const { id } = await book(subject);
        const isNamed = id.includes(numberIn(await patientId(subject)));
        expectSame(isNamed, idsNamePatients(subject), 'Whether an id contains the identifier of the patient');
      },
    ),

    'finds and changes nothing by an id that names another patient': claimed([idsNamePatients], async (subject) => {
      const { connector, careUnit } = subject;
      const { id } = await book(subject);
      const other = id.replaceAll(numberIn(await patientId(subject)), numberIn(anotherPatientId(subject)));
      const found = await operation(connector, 'findAppointments')(careUnit, [other]);
      expectSame(found.length, 0, 'Appointments found by an id that names another patient');
      if (!changes('cancel')(subject)) return;
      const cancelled = change(subject, { kind: 'cancel', appointmentId: other });
      const kinds = ['appointment_not_found', 'appointment_cancelled', 'rejected'] as const;
      await expectRejection(cancelled, kinds, 'Cancelling by an id that names another patient');
      expectSame((await mustRead(subject, id)).state, 'booked', 'State after a cancellation by that id');
    }),

    'leaves out ids that do not exist': async (subject) => {
      const { connector, careUnit } = subject;
      const find = operation(connector, 'findAppointments');
      expectSame(await find(careUnit, ['no-such-appointment']), [], 'Result for an id that does not exist');
      expectSame(await find(careUnit, []), [], 'Result for an empty list of ids');
      const { id } = await book(subject);
      const found = await find(careUnit, ['no-such-appointment', id]);
      expectSame(
        found.map((it) => it.id),
        [id],
        'Appointments found by one existing and one unknown id',
      );
    },

    'an appointment of another care unit is not found': async (subject) => {
      const other = given(subject.otherCareUnit, 'no other care unit is configured');
      const { id } = await book(subject);
      const found = await operation(subject.connector, 'findAppointments')(other, [id]);
      expectSame(found.length, 0, 'Appointments found through another care unit');
      const listed = await listAllPages(subject, { careUnit: other, patientId: await patientId(subject) });
      expectThat(!listed.some((it) => it.id === id), 'An appointment of another care unit is listed');
    },

    'filters appointments by patient': async (subject) => {
      const mine = await patientId(subject);
      const { id } = await book(subject);
      expectThat(await shows(subject, id, { patientId: mine }), 'An appointment is not listed for its patient');
      for (const appointment of await listAllPages(subject, { patientId: mine })) {
        expectThat(
          appointment.patientId === mine,
          'The list of one patient contains an appointment of another patient',
        );
      }
      const other = anotherPatientId(subject);
      expectThat(!(await shows(subject, id, { patientId: other })), 'An appointment is listed for another patient');
    },

    'a patient of whom the EHR knows nothing has no appointments': claimed([passesPatients], async (subject) => {
      const [nobody] = subject.facts.unknownPatients ?? [];
      const { type, value } = given(nobody, 'no identifier that no patient has is given');
      expectSame((await listAllPages(subject, { patientId: `${type}:${value}` })).length, 0, 'Appointments of nobody');
    }),

    'rejects a list of no patient if appointments are listed by patient only': claimed(
      [listsByPatientOnly],
      async ({ connector, careUnit }) => {
        const list = operation(connector, 'listAppointments');
        const ofAll = list({
          careUnit,
          range: { start: new Date(), end: new Date(Date.now() + 86_400_000) },
          limit: 10,
        });
        await expectRejection(ofAll, 'unsupported', 'A list of the appointments of all patients');
      },
    ),

    'filters appointments by resource': async (subject) => {
      const { id, resourceId } = assertComplete(await book(subject));
      expectThat(await shows(subject, id, { resourceId }), 'An appointment is not listed for its resource');
      for (const appointment of await listAllPages(subject, { resourceId })) {
        expectSame(appointment.resourceId, resourceId, 'Resource of an appointment listed for one resource');
      }
      const elsewhere = await shows(subject, id, { resourceId: 'no-such-resource' });
      expectThat(!elsewhere, 'An appointment is listed for another resource');
    },

    'lists appointments that overlap the range': async (subject) => {
      const { id, start, end } = assertComplete(await book(subject));
      const [before, after] = [new Date(start.getTime() - 60_000), new Date(end.getTime() + 60_000)];
      const middle = new Date((start.getTime() + end.getTime()) / 2);
      const cases: [string, Date, Date, boolean][] = [
        ['that contains it', before, after, true],
        ['equal to its time', start, end, true],
        ['that ends inside it', before, middle, true],
        ['that starts inside it', middle, after, true],
        ['that ends where it starts', before, start, false],
        ['that starts where it ends', end, after, false],
      ];
      for (const [words, from, until, expected] of cases) {
        const listed = await shows(subject, id, { range: { start: from, end: until } });
        expectSame(listed, expected, `An appointment is listed for a range ${words}`);
      }
    },

    'writes and reads the same time in every time zone of the process': async (subject) => {
      const booked = await inEveryTimeZone(subject, async (there, zone) => {
        const slot = await freeSlot(there);
        const { id } = await book(there, { slot });
        const found = (await appointmentsAt(there, slot)).filter((it) => it.id === id);
        const listed = found.map(({ start, end }) => [start, end]);
        expectSame(listed, [[slot.start, slot.end]], `Time of an appointment, booked and listed in ${zone}`);
        return { id, slot };
      });
      await inEveryTimeZone(subject, async (there, zone) => {
        for (const { zone: other, result } of booked) {
          const { start, end } = await mustRead(there, result.id);
          const time = [result.slot.start, result.slot.end];
          expectSame([start, end], time, `Time of an appointment, booked in ${other} and read in ${zone}`);
        }
      });
    },

    'filters appointments by state': async (subject) => {
      const mine = await patientId(subject);
      const { id } = await book(subject);
      expectThat(
        await shows(subject, id, { patientId: mine, states: ['booked'] }),
        'A booked appointment is not listed for state booked',
      );
      expectThat(
        !(await shows(subject, id, { patientId: mine, states: ['cancelled'] })),
        'A booked appointment is listed for state cancelled',
      );
      if (!changes('cancel')(subject)) return;
      await change(subject, { kind: 'cancel', appointmentId: id });
      expectThat(
        !(await shows(subject, id, { patientId: mine, states: ['booked'] })),
        'A cancelled appointment is listed for state booked',
      );
      if (forgetsCancelled(subject)) return;
      for (const states of [['cancelled'], ['booked', 'cancelled'], []] as const) {
        const listed = await shows(subject, id, { patientId: mine, states });
        expectThat(listed, `A cancelled appointment is not listed for states [${states}]`);
      }
    },

    'returns only appointments that match all filters': async (subject) => {
      const mine = await patientId(subject);
      const slot = await freeSlot(subject);
      const { id } = await book(subject, { slot });
      const both = { patientId: mine, resourceId: slot.resourceId, range: { start: slot.start, end: slot.end } };
      expectThat(await shows(subject, id, both), 'An appointment that matches all filters is not listed');
      const wrong = await shows(subject, id, { ...both, resourceId: 'no-such-resource' });
      expectThat(!wrong, 'An appointment that does not match one filter is listed');
    },
  },
);
