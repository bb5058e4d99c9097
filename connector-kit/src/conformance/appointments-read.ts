import type { AppointmentQuery } from '../connector.ts';
import { capability } from './check.ts';
import { expectSame, expectThat, facts, given, operation } from './expect.ts';
import { book, change, freeSlot, listEvery, mustRead, needs, patientId } from './scene.ts';
import type { Subject } from './subject.ts';

async function shows(subject: Subject, id: string, query: Partial<AppointmentQuery>): Promise<boolean> {
  return (await listEvery(subject, query)).some((appointment) => appointment.id === id);
}

export const appointmentsRead = capability(
  'appointments-read',
  ({ findAppointments, listAppointments }) => findAppointments !== undefined || listAppointments !== undefined,
  {
    'are found by id as they were answered when made': async (subject) => {
      const made = await book(subject, { comment: 'As it was written' });
      expectSame(facts(await mustRead(subject, made.id)), facts(made), 'An appointment, found by its id');
    },

    'that do not exist are left out': async (subject) => {
      const { connector, careUnit } = subject;
      const find = operation(connector, 'findAppointments');
      expectSame(await find(careUnit, ['no-such-appointment']), [], 'Answer for an id that does not exist');
      expectSame(await find(careUnit, []), [], 'Answer for no id');
      const { id } = await book(subject);
      const found = await find(careUnit, ['no-such-appointment', id]);
      expectSame(
        found.map((it) => it.id),
        [id],
        'Appointments found by one id that exists and one that does not',
      );
    },

    'of another care unit are not found': async (subject) => {
      const other = given(subject.otherCareUnit, 'no other care unit is named');
      const { id } = await book(subject);
      const found = await operation(subject.connector, 'findAppointments')(other, [id]);
      expectSame(found.length, 0, 'Appointments of one care unit that another one finds');
      const listed = await listEvery(subject, { careUnit: other, patientId: await patientId(subject) });
      expectThat(!listed.some((it) => it.id === id), 'An appointment of another care unit is listed');
    },

    'are listed by patient': async (subject) => {
      const mine = await patientId(subject);
      const { id } = await book(subject);
      expectThat(await shows(subject, id, { patientId: mine }), 'An appointment is not listed for its patient');
      for (const appointment of await listEvery(subject, { patientId: mine })) {
        expectThat(appointment.patientId === mine, 'The list of one patient shows an appointment of another');
      }
      const other = subject.facts.otherPatientId ?? 'no-such-patient';
      expectThat(!(await shows(subject, id, { patientId: other })), 'An appointment is listed for another patient');
    },

    'are listed by resource': async (subject) => {
      const { id, resourceId } = await book(subject);
      expectThat(await shows(subject, id, { resourceId }), 'An appointment is not listed for its resource');
      for (const appointment of await listEvery(subject, { resourceId })) {
        expectSame(appointment.resourceId, resourceId, 'Resource of an appointment in the list of one resource');
      }
      const elsewhere = await shows(subject, id, { resourceId: 'no-such-resource' });
      expectThat(!elsewhere, 'An appointment is listed for another resource');
    },

    'are listed by what overlaps a range': async (subject) => {
      const { id, start, end } = await book(subject);
      const [before, after] = [new Date(start.getTime() - 60_000), new Date(end.getTime() + 60_000)];
      const middle = new Date((start.getTime() + end.getTime()) / 2);
      const cases: [string, Date, Date, boolean][] = [
        ['all around it', before, after, true],
        ['exactly its time', start, end, true],
        ['from before into it', before, middle, true],
        ['from within it to after', middle, after, true],
        ['that ends where it starts', before, start, false],
        ['that starts where it ends', end, after, false],
      ];
      for (const [words, from, until, expected] of cases) {
        const listed = await shows(subject, id, { range: { start: from, end: until } });
        expectSame(listed, expected, `An appointment is listed for a range ${words}`);
      }
    },

    'are listed by state': async (subject) => {
      const mine = await patientId(subject);
      const { id } = await book(subject);
      expectThat(await shows(subject, id, { patientId: mine, states: ['booked'] }), 'Not listed among the booked');
      expectThat(!(await shows(subject, id, { patientId: mine, states: ['cancelled'] })), 'Listed among the cancelled');
      needs(subject, 'cancel');
      await change(subject, { kind: 'cancel', appointmentId: id });
      expectThat(!(await shows(subject, id, { patientId: mine, states: ['booked'] })), 'Still listed among the booked');
      for (const states of [['cancelled'], ['booked', 'cancelled'], []] as const) {
        const listed = await shows(subject, id, { patientId: mine, states });
        expectThat(listed, `A cancelled appointment is not listed when asked for [${states}]`);
      }
    },

    'that match several conditions match all of them': async (subject) => {
      const mine = await patientId(subject);
      const slot = await freeSlot(subject);
      const { id } = await book(subject, { slot });
      const both = { patientId: mine, resourceId: slot.resourceId, range: { start: slot.start, end: slot.end } };
      expectThat(await shows(subject, id, both), 'An appointment that matches every condition is not listed');
      const wrong = await shows(subject, id, { ...both, resourceId: 'no-such-resource' });
      expectThat(!wrong, 'An appointment that misses one condition is listed');
    },
  },
);
