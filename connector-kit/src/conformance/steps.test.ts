import { expect, test } from 'vitest';
import type { AppointmentQuery, Connector } from '../connector.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { appointmentsAt, consecutiveSlots } from './steps.ts';
import type { Subject } from './subject.ts';

const slot = {
  start: new Date('2030-05-06T08:00:00Z'),
  end: new Date('2030-05-06T08:30:00Z'),
  resourceId: 'r-1',
  healthcareServiceId: 'consultation',
};

function appointment(index: number, state: Appointment['state']): Appointment {
  const id = String(index).padStart(4, '0');
  return { id, state, heldUntil: null, comment: null, patientId: 'p-1', careUnitId: 'north', ...slot };
}

test('appointmentsAt finds a booked appointment after more than one page of cancelled ones', async () => {
  const all = [
    ...Array.from({ length: 1100 }, (_, index) => appointment(index, 'cancelled')),
    appointment(2000, 'booked'),
  ];
  const connector = {
    capabilities: {},
    listAppointments: async ({ after, limit }: AppointmentQuery) =>
      all.filter(({ id }) => after === undefined || id > after.id).slice(0, limit),
  };
  const subject = { connector: connector as unknown as Connector, careUnit: { id: 'north' } } as Subject;
  expect((await appointmentsAt(subject, slot)).map(({ id }) => id)).toEqual(['2000']);
});

test('appointmentsAt asks an EHR that lists by patient only for each known patient', async () => {
  const all = [appointment(1, 'booked'), { ...appointment(2, 'booked'), patientId: 'p-2' }];
  const connector = {
    capabilities: { appointmentsByPatient: 'required' },
    listAppointments: async ({ patientId }: AppointmentQuery) => all.filter((it) => it.patientId === patientId),
  };
  const facts = { patient: [{ type: 'emr_id', value: 'p-1' }], otherPatientId: 'p-2' };
  const subject = { connector, careUnit: { id: 'north' }, facts } as unknown as Subject;
  expect((await appointmentsAt(subject, slot)).map(({ id }) => id)).toEqual(['0001', '0002']);
});

test('consecutiveSlots leaves out a row that begins by phone and goes on by video', async () => {
  const at = (hour: number, modality: TimeSlot['modality']): TimeSlot => {
    const start = new Date(Date.UTC(2030, 4, 6, hour));
    return { ...slot, start, end: new Date(start.getTime() + 3_600_000), modality };
  };
  const slots = [at(8, 'phone'), at(9, 'video'), at(10, 'video')];
  const connector = { capabilities: {}, listTimeSlots: async () => slots } as unknown as Connector;
  const facts = { resource: [{ type: 'emr_id', value: 'r-1' }], healthcareServiceId: 'consultation' };
  const subject = { connector, careUnit: { id: 'north' }, facts } as unknown as Subject;
  expect(await consecutiveSlots(subject, 2)).toEqual(slots.slice(1));
});
