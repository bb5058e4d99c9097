import { expect, test } from 'vitest';
import { kariNumber, people } from '../fake/data.ts';
import { gnuHealthConnector } from '../src/connector.ts';
import { creation, freeSlots, open, read, rowsIn, write } from './bookings.ts';
import { contextFor, north, settingsFor, south } from './subject.ts';

test('a patient has the number, however staff have written it, and the address', async () => {
  const { connector } = await open();
  expect(await connector.findPatient?.({ type: 'no_personal_number', value: kariNumber })).toEqual({
    id: '1',
    identifiers: [
      { type: 'emr_id', value: '1' },
      { type: 'no_personal_number', value: kariNumber },
    ],
    givenName: 'Kari',
    familyName: 'Nordmann',
    birthDate: '1969-11-13',
    gender: 'female',
    phone: '+4790000001',
    email: 'kari@example.org',
    address: { lines: ['Storgata 1', 'Oppgang B'], postalCode: '0155', city: 'Oslo', country: 'NO' },
  });
});

test('a generated PUID is no number, and a patient who has died cannot be booked', async () => {
  const { connector } = await open();
  const ola = await connector.findPatient?.({ type: 'emr_id', value: String(people.ola) });
  expect(ola?.identifiers).toEqual([{ type: 'emr_id', value: String(people.ola) }]);
  expect(await connector.findPatient?.({ type: 'emr_id', value: String(people.per) })).toMatchObject({
    isInactive: true,
  });
  const [slot] = await freeSlots(connector, 1);
  await expect(write(connector, creation(slot, people.per))).rejects.toMatchObject({ kind: 'patient_inactive' });
});

test('a phone number with its country code comes before one without, which is passed on as digits', async () => {
  const { fake, connector } = await open();
  const phonesOf = async (mobile: string, phone: string) => {
    fake.as('desk', (it) => it.write('party.party', [people.ola], { mobile, phone }));
    const ola = await connector.findPatient?.({ type: 'emr_id', value: String(people.ola) });
    return [ola?.phone, ola?.nationalPhone];
  };
  expect(await phonesOf('070-174 06 05', '0046 70 174 06 99')).toEqual(['+46701740699', undefined]);
  expect(await phonesOf('070-174 06 05', '(08) 000 00 00')).toEqual([null, '0701740605']);
  expect(await phonesOf('ask the daughter', '')).toEqual([null, undefined]);
});

test('an appointment without an end has the usual length, and takes that time', async () => {
  const { fake, connector } = await open({ minutes_without_end: 45 });
  const [first, second] = await freeSlots(connector, 2);
  if (!first || !second) throw new Error('No slots');
  const [id] = fake.as('desk', (it) =>
    it.create('gnuhealth.appointment', [
      {
        state: 'confirmed',
        patient: people.ola,
        healthprof: 1,
        institution: 1,
        appointment_date: first.start.getTime() * 1000,
      },
    ]),
  );
  const found = await read(connector, String(id));
  expect(found).toMatchObject({ start: first.start, healthcareServiceId: null });
  expect((found?.end?.getTime() ?? 0) - first.start.getTime()).toBe(45 * 60_000);
  for (const slot of [first, second]) {
    await expect(write(connector, creation(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  }
});

test('telemedicine is what the settings say', async () => {
  for (const [telemedicine, modality] of [
    ['video', 'video'],
    [undefined, null],
  ] as const) {
    const { fake, connector } = await open(telemedicine === undefined ? {} : { telemedicine });
    const [slot] = await freeSlots(connector, 1);
    expect(slot?.modality).toBe('in_person');
    const [row] = slot ? rowsIn(fake, 'free', slot) : [];
    fake.as('desk', (it) => it.write('gnuhealth.appointment', [row?.id ?? 0], { appointment_type: 'telemedicine' }));
    expect((await freeSlots(connector, 1))[0]?.modality).toBe(modality);
    expect((await write(connector, creation(slot))).modality).toBe(modality);
  }
});

test('a time that was an appointment before gives another id', async () => {
  const { fake, connector } = await open();
  const [slot] = await freeSlots(connector, 1);
  const { id } = await write(connector, creation(slot, people.ola));
  fake.as('desk', (it) => it.write('gnuhealth.appointment', [Number(id)], { state: 'free', patient: null }));
  const made = await write(connector, creation(slot, people.kari));
  expect(made.id).not.toBe(id);
  expect(await read(connector, id)).toBeUndefined();
  expect(slot && rowsIn(fake, 'confirmed', slot)).toHaveLength(1);
});

test('a time that staff have entered twice is one slot, and is booked once', async () => {
  const { fake, connector } = await open();
  const [slot] = await freeSlots(connector, 1);
  const [row] = slot ? rowsIn(fake, 'free', slot) : [];
  const { id: _, ...values } = row ?? { id: 0 };
  fake.as('desk', (it) => it.create('gnuhealth.appointment', [values]));
  expect(new Set((await freeSlots(connector, 4)).map(({ start }) => start.getTime())).size).toBe(4);
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => write(connector, creation(slot))));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(slot && rowsIn(fake, 'confirmed', slot)).toHaveLength(1);
});

test('staff see no patient in a time that is free again', async () => {
  const { fake, connector } = await open();
  const [from, to] = await freeSlots(connector, 2);
  const { id } = await write(connector, creation(from));
  await write(connector, { kind: 'update', appointmentId: id, ...(to ? { time: to } : {}) });
  await write(connector, { kind: 'cancel', appointmentId: id });
  for (const slot of [from, to]) expect(slot && rowsIn(fake, 'free', slot)).toMatchObject([{ patient: null }]);
});

test("staff's own evaluations and attachments are shown", async () => {
  const { fake, connector } = await open();
  const patient = people.kari;
  fake.as('desk', (it) => {
    const values = { patient, healthprof: 1, institution: 1, evaluation_start: 0, chief_complaint: 'Cough' };
    it.create('gnuhealth.patient.evaluation', [{ ...values, present_illness: 'Since Monday', directions: 'Rest' }]);
    const file = { name: 'Letter.pdf', type: 'data', resource: `gnuhealth.patient,${patient}`, description: 'From GP' };
    it.create('ir.attachment', [{ ...file, data: Buffer.from('%PDF-1.7') }]);
    it.create('ir.attachment', [{ ...file, name: 'page', type: 'link', data: null }]);
  });
  const [note] = (await connector.listMedicalNotes?.({ careUnit: north, patientId: '1', limit: 10 })) ?? [];
  expect(note).toMatchObject({
    title: 'Cough',
    text: 'Present illness:\nSince Monday\n\nTherapeutic plan:\nRest',
    authorId: '1',
  });
  expect(await connector.listMedicalNotes?.({ careUnit: south, patientId: '1', limit: 10 })).toEqual([]);
  for (const careUnit of [north, south]) {
    expect(await connector.listDocuments?.({ careUnit, patientId: '1', limit: 10 })).toMatchObject([
      { title: 'Letter.pdf', contentType: 'application/pdf', size: 8, authorId: null },
    ]);
  }
});

test('a server says which modules it has', async () => {
  const { fake } = await open();
  expect(await gnuHealthConnector.describe?.(contextFor(settingsFor(fake.url)))).toEqual({
    software: ['health 5.0.6', 'health_calendar 5.0.5'],
  });
});

test('a server says of which institutions care units can be made', async () => {
  const { fake } = await open();
  expect(await gnuHealthConnector.places?.(contextFor(settingsFor(fake.url)))).toEqual([
    { name: 'NORTH', settings: { institution: 1 } },
    { name: 'SOUTH', settings: { institution: 2 } },
  ]);
});

test('the probe tells what staff must add', async () => {
  const { fake } = await open();
  const probe = async (settings = settingsFor(fake.url)) =>
    (await gnuHealthConnector.probe?.(contextFor(settings)))?.findings ?? [];
  expect((await probe()).map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 'ok'));
  const tomorrow = Date.now() + 86_400_000;
  fake.as('desk', (it) =>
    it.create('gnuhealth.appointment', [
      { state: 'free', healthprof: 1, institution: 1, speciality: null, appointment_date: tomorrow * 1000 },
    ]),
  );
  expect((await probe()).find(({ name }) => name === 'care unit north')).toMatchObject({ status: 'warning' });
  expect(await probe({ ...settingsFor(fake.url), password: { reveal: () => 'wrong' } })).toMatchObject([
    { name: 'sign-in', status: 'problem' },
  ]);
});

test.each([
  ['se_personal_number', '19121212-1212', '191212121212', 1912],
  ['se_personal_number', '640823-3234', '196408233234', 1964],
  ['se_personal_number', '7010632391', '197010632391', 1970],
  ['se_personal_number', '121212+1212', '191212121212', 1912],
  ['nhs_number', '999 000 0018', '9990000018', 1970],
  ['no_personal_number', '158590 00026', '15859000026', 1990],
] as const)('a patient whose %s is written %s is found by the number', async (type, written, value, year) => {
  const { fake, connector } = await open({ national_number: type });
  const dob = { __class__: 'date', year, month: 12, day: 12 };
  fake.as('desk', (it) => it.write('party.party', [people.ola], { ref: written, dob }));
  const found = await connector.findPatient?.({ type, value });
  expect(found?.identifiers).toEqual([
    { type: 'emr_id', value: String(people.ola) },
    { type, value },
  ]);
});

test('of two records with one number none is chosen, unless one is out of use', async () => {
  const { fake, connector } = await open();
  fake.as('desk', (it) => it.write('party.party', [people.ola], { ref: kariNumber }));
  const byNumber = { type: 'no_personal_number', value: kariNumber } as const;
  await expect(connector.findPatient?.(byNumber)).rejects.toMatchObject({ kind: 'patient_ambiguous' });
  fake.as('desk', (it) => it.write('gnuhealth.patient', [people.ola], { active: false }));
  expect(await connector.findPatient?.(byNumber)).toMatchObject({ id: String(people.kari) });
});

test('two people whose numbers differ in the century only are two people', async () => {
  const { fake, connector } = await open({ national_number: 'se_personal_number' });
  const born = (year: number) => ({ ref: '121212-1212', dob: { __class__: 'date', year, month: 12, day: 12 } });
  fake.as('desk', (it) => {
    it.write('party.party', [people.ola], born(1912));
    it.write('party.party', [people.kari], born(2012));
  });
  const find = (value: string) => connector.findPatient?.({ type: 'se_personal_number', value });
  expect(await find('191212121212')).toMatchObject({ id: String(people.ola) });
  expect(await find('201212121212')).toMatchObject({ id: String(people.kari) });
});
