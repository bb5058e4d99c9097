/** @module-tag any-database */
import type { Appointment, OperationOutcome, OperationOutcomeIssue, Patient, Slot } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { elementsOf, names, valueIn, withElement } from './test-elements.ts';
import { bookingOf, fhirClient } from './test-requests.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = fhirClient(gateway, oslo);
const strict = { prefer: 'handling=strict' };
const issuesIn = (body: unknown): readonly OperationOutcomeIssue[] => (body as OperationOutcome).issue ?? [];
const cancel = [{ op: 'replace', path: '/status', value: 'cancelled' }];

describe('an Appointment', async () => {
  const [slot] = (await norway.slots(1)) as readonly [Slot];
  const { start = '', end = '' } = slot;
  const services = 'urn:crossward:healthcare-service';
  const base: Appointment = {
    ...bookingOf(slot, 'p-1'),
    start,
    end,
    serviceType: [{ coding: [{ system: services, code: 'consultation' }] }],
  };
  const values = {
    'Appointment.start': start,
    'Appointment.end': end,
    'Appointment.status': 'booked',
    'Appointment.minutesDuration': 30,
    'Appointment.slot.reference': `Slot/${slot.id}`,
    'Appointment.serviceType.coding.system': services,
    'Appointment.serviceType.coding.code': 'consultation',
    'Appointment.participant.actor.reference': 'Patient/p-1',
    'Appointment.participant.actor.type': 'Patient',
    'Appointment.participant.status': 'accepted',
    'Appointment.participant': { status: 'accepted', type: [{ text: 'escort' }] },
  };
  /** R4: the server assigns the first three. The type is in the reference. */
  const understood = [
    'Appointment.id',
    'Appointment.meta.versionId',
    'Appointment.meta.lastUpdated',
    'Appointment.participant.actor.type',
  ];
  const elements = elementsOf(base, values);

  test('has the elements of R4', () => {
    const paths = elements.map(({ path }) => path);
    for (const path of ['requestedPeriod', 'participant.period', 'meta.tag', 'contained', 'slot.display', '_comment']) {
      expect(paths).toContain(`Appointment.${path}`);
    }
    expect(elements.length).toBeGreaterThan(90);
  });

  test.each(elements)('keeps $path, or names it', async (element) => {
    const sent = withElement(base, element);
    const { status, body } = await norway.post('/Appointment', sent, strict);
    const tried = await norway.post('/Appointment/$validate', sent);
    const [first] = issuesIn(tried.body).filter(({ severity }) => severity !== 'information');
    if (status === 201) {
      const read = await norway.get(`/Appointment/${body.id}`);
      expect((await norway.patch(body.id, cancel)).status).toBe(200);
      if (understood.includes(element.path)) expect(valueIn(read.body, element.path)).not.toEqual(element.value);
      else expect(valueIn(read.body, element.path)).toEqual(element.value);
      // The time was taken by the first.
      expect(first?.details?.coding?.[0]?.code).toBe('time_slot_unavailable');
      return;
    }
    expect(status).toBe(422);
    expect(issuesIn(body).some(({ expression }) => names(expression?.[0], element))).toBe(true);
    expect([tried.status, names(first?.expression?.[0], element)]).toEqual([200, true]);
  });

  test('names all that is lost, in a list that it keeps in part, and in a change', async () => {
    const concept = {
      coding: [
        { system: 'urn:x', code: 'y' },
        { system: services, code: 'consultation' },
      ],
    };
    const more: Partial<Appointment> = {
      serviceType: [concept],
      identifier: [{ system: 'urn:oid:1.2.3', value: 'a' }, { value: 'b' }],
      participant: [...base.participant, { status: 'needs-action', type: [{ text: 'escort' }] }],
    };
    const expressions = (body: unknown) => issuesIn(body).flatMap(({ expression }) => expression ?? []);
    const refused = await norway.post('/Appointment', { ...base, ...more }, strict);
    const lost = ['Appointment.serviceType[0].coding[0]', 'Appointment.participant[1]', 'Appointment.identifier[1]'];
    expect([refused.status, expressions(refused.body).toSorted()]).toEqual([422, lost.toSorted()]);
    const inBook = {
      resourceType: 'Parameters',
      parameter: [{ name: 'appt-resource', resource: { ...base, ...more, status: 'proposed' } }],
    };
    expect(expressions((await norway.post('/Appointment/$book', inBook, strict)).body).toSorted()).toEqual(
      lost.toSorted(),
    );

    const { body: booked } = await norway.post('/Appointment', base);
    // What was read is not lost, and can be sent back.
    expect((await norway.put({ ...booked, comment: 'x' }, strict)).status).toBe(200);
    const patch = (operation: object, prefer: string) => norway.patch(booked.id, [operation], { prefer });
    const note = { op: 'add', path: '/patientInstruction', value: 'Come fasting.' };
    expect(expressions((await patch(note, 'handling=strict')).body)).toEqual(['Appointment.patientInstruction']);
    expect(expressions((await patch(note, 'return=OperationOutcome')).body)).toEqual([
      'Appointment.patientInstruction',
    ]);
    const remove = { op: 'remove', path: '/serviceType' };
    expect(expressions((await patch(remove, 'handling=strict')).body)).toEqual(['Appointment.serviceType']);
    const type = { op: 'replace', path: '/participant/0/actor/type', value: 'Practitioner' };
    expect((await patch({ ...type, op: 'add' }, 'handling=lenient')).status).toBe(422);
    const cancelled = { ...booked, status: 'cancelled' as const, comment: 'y', cancelationReason: { text: 'ill' } };
    const reason = await norway.put(cancelled, strict);
    expect(expressions(reason.body)).toEqual(['Appointment.cancelationReason.text']);
    const { comment: _, ...rest } = cancelled;
    expect((await norway.put(rest, strict)).body).toMatchObject({ status: 'cancelled', comment: 'ill' });
  });
});

describe('a Patient', async () => {
  const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
  const number = '15859000107';
  const base: Patient = {
    resourceType: 'Patient',
    identifier: [{ system, value: number }],
    name: [{ use: 'official', family: 'Prøvestad', given: ['Ny'] }],
    telecom: [{ system: 'phone', value: '+4700000900' }],
    gender: 'female',
    birthDate: '1990-05-15',
    address: [{ line: ['Prøveveien 9'], postalCode: '0001', city: 'Oslo', country: 'NO' }],
  };
  const create = (patient: Patient, headers: Record<string, string>) =>
    norway.send<Patient>('POST', '/Patient', patient, {
      headers: { 'if-none-exist': `identifier=${system}|${number}`, ...headers },
    });
  expect((await create(base, strict)).status).toBe(201);
  const first = <Item>(items: readonly Item[] | undefined) => (items ?? [])[0];
  const values = {
    'Patient.gender': base.gender,
    'Patient.birthDate': base.birthDate,
    'Patient.identifier.system': system,
    'Patient.identifier.value': number,
    'Patient.name.use': 'official',
    'Patient.name.family': 'Prøvestad',
    'Patient.name.given': 'Ny',
    'Patient.telecom.system': 'phone',
    'Patient.telecom.value': first(base.telecom)?.value,
    'Patient.address.line': 'Prøveveien 9',
    'Patient.address.postalCode': '0001',
    'Patient.address.city': 'Oslo',
    'Patient.address.country': 'NO',
  };
  /** R4: the server assigns the first three, and a record is in use unless it says otherwise. */
  const understood = ['Patient.id', 'Patient.meta.versionId', 'Patient.meta.lastUpdated', 'Patient.active'];

  test.each(elementsOf(base, values))('keeps $path, or names it', async (element) => {
    const sent = withElement(base, element);
    const { status, body } = await create(sent, strict);
    const lenient = await create(sent, { prefer: 'return=OperationOutcome' });
    const [named] = issuesIn(lenient.body).filter(({ severity }) => severity !== 'information');
    if (status === 200) {
      if (!understood.includes(element.path)) expect(valueIn(body, element.path)).toEqual(element.value);
      expect([lenient.status, named]).toEqual([200, undefined]);
      return;
    }
    expect(status).toBe(422);
    expect(issuesIn(body).some(({ expression }) => names(expression?.[0], element))).toBe(true);
    expect([200, 422]).toContain(lenient.status);
    expect(names(named?.expression?.[0], element)).toBe(true);
  });
});
