import { describe, expect, test } from 'vitest';
import { operationIdentifiers, operationKeys, placesIn, remember } from '../src/booking/operation-ids.ts';
import type { FhirAppointment, FhirPatient, FhirSlot } from '../src/fhir.ts';
import {
  type AppointmentIds,
  appointmentTime,
  standingOf,
  toAppointment,
  withComment,
  withHold,
} from '../src/mappers/appointment.ts';
import { configuredService, discoveredService, hasCoding } from '../src/mappers/healthcare-service.ts';
import { identifierSystems, knownNumbers } from '../src/mappers/identifiers.ts';
import { toPatient } from '../src/mappers/patient.ts';
import {
  deviceResource,
  locationResource,
  practitionerResource,
  resourceId,
  resourceReference,
} from '../src/mappers/resource.ts';
import { claimedSlot, claimOf, freedSlot, slotState } from '../src/mappers/slot.ts';
import { readServerFacts } from '../src/server/capability-statement.ts';
import { createHabits } from '../src/server/habits.ts';

const now = new Date('2026-03-20T12:00:00Z');
const sameClock = {
  ahead: () => 0,
  now: () => now,
  toEhr: (moment: Date) => moment,
  fromEhr: (moment: Date) => moment,
};
const systems = identifierSystems({ base_url: 'https://ehr.example/fhir' });
const dialect = {
  commentField: 'comment',
  cancelReason: 'comment',
} as const;

describe('a Patient', () => {
  /** Like https://hl7.org/fhir/R4/patient-example.html, with a synthetic person. */
  const example: FhirPatient = {
    resourceType: 'Patient',
    id: 'p-1',
    active: true,
    identifier: [
      { use: 'usual', system: 'urn:oid:1.2.36.146.595.217.0.1', value: '12345' },
      { system: 'urn:oid:2.16.578.1.12.4.1.4.1', value: '158590 00026' },
    ],
    name: [
      { use: 'usual', given: ['Lykke'] },
      { use: 'official', family: 'Granskog', given: ['Lykkelig', 'Test'] },
      { use: 'maiden', family: 'Annen', given: ['Lykkelig'], period: { end: '2002' } },
    ],
    telecom: [
      { use: 'home' },
      { system: 'phone', value: '+47 00 00 00 02', use: 'work', rank: 1 },
      { system: 'phone', value: 'tel:+47-0000-0001', use: 'mobile', rank: 2 },
      { system: 'phone', value: '+4700000009', use: 'mobile', rank: 1, period: { end: '2014' } },
      { system: 'email', value: 'p-1@patients.example', period: { start: '2020-01-01' } },
    ],
    gender: 'female',
    birthDate: '1990-05-15',
    address: [
      { use: 'old', city: 'Langtborte' },
      { use: 'home', line: ['Prøveveien 1'], city: 'Oslo', postalCode: '0001', country: 'no' },
    ],
  };

  test('has the names, numbers and addresses that are valid now', () => {
    expect(toPatient(example, systems, ['emr_id', 'no_personal_number'], now)).toEqual({
      id: 'p-1',
      identifiers: [
        { type: 'emr_id', value: 'p-1' },
        { type: 'no_personal_number', value: '15859000026' },
      ],
      givenName: 'Lykkelig Test',
      familyName: 'Granskog',
      birthDate: '1990-05-15',
      gender: 'female',
      phone: '+4700000001',
      email: 'p-1@patients.example',
      address: { lines: ['Prøveveien 1'], postalCode: '0001', city: 'Oslo', country: 'NO' },
    });
  });

  test('may have an id only, and a birth date without a day is left out', () => {
    const bare = toPatient({ resourceType: 'Patient', id: 'p-2' }, systems, ['emr_id'], now);
    expect(bare).toMatchObject({ identifiers: [{ value: 'p-2' }], phone: null, address: null, birthDate: null });
    expect(toPatient({ ...example, birthDate: '1990-05' }, systems, ['emr_id'], now).birthDate).toBeNull();
  });

  test.each([
    ['00 47 00 00 00 01', '+4700000001', undefined],
    ['22 00 00 00', null, '22000000'],
    ['22 00 00 00 ext. 3', null, '22000000'],
    ['see notes', null, undefined],
    ['', null, undefined],
  ])('with the phone number %j has the phone %j, without a country code %j', (value, phone, nationalPhone) => {
    const telecom = [{ system: 'phone', value }];
    const found = toPatient({ ...example, telecom }, systems, ['emr_id'], now);
    expect([found.phone, found.nationalPhone]).toEqual([phone, nationalPhone]);
  });
});

test('a number is recognized by each of its systems and listed once', () => {
  const identifiers = [
    { system: 'urn:oid:1.2.752.129.2.1.3.1', value: '19121212-1212' },
    { system: 'http://electronichealth.se/identifier/personnummer', value: '191212121212' },
    { system: 'urn:oid:1.2.752.129.2.1.4.1', value: 'se0000000000-1001' },
    { use: 'old', system: 'urn:oid:1.2.752.29.4.19', value: 'SE0000000000-2002' },
  ];
  expect(knownNumbers(systems, ['se_personal_number', 'hsa_id'], identifiers)).toEqual([
    { type: 'se_personal_number', value: '191212121212' },
    { type: 'hsa_id', value: 'SE0000000000-1001' },
  ]);
});

describe('a resource', () => {
  test('is a practitioner, a room or a device', () => {
    const practitioner = {
      resourceType: 'Practitioner',
      id: 'r-1',
      name: [{ family: 'Fjord', given: ['Nøysom'] }],
    } as const;
    expect(practitionerResource(practitioner, ['a'], systems, ['emr_id'], now)).toEqual({
      id: 'r-1',
      identifiers: [{ type: 'emr_id', value: 'r-1' }],
      kind: 'practitioner',
      name: 'Nøysom Fjord',
      healthcareServiceIds: ['a'],
    });
    expect(locationResource({ resourceType: 'Location', id: '1', name: 'Room' }, [])).toMatchObject({
      id: 'location_1',
      kind: 'room',
      name: 'Room',
    });
    const device = { resourceType: 'Device', id: '1', type: { text: 'Scanner' } } as const;
    expect(deviceResource(device, [])).toMatchObject({ id: 'device_1', kind: 'device', name: 'Scanner' });
  });

  test.each(['Practitioner/17', 'Location/a-1.b', 'Device/x'])('%s has an id that maps back to it', (reference) => {
    expect(resourceReference(resourceId(reference))).toBe(reference);
  });

  test.each(['', 'room_1', 'a/b', 'a b'])('the id %j is invalid', (id) => {
    expect(resourceReference(id)).toBeUndefined();
  });
});

describe('a Slot', () => {
  const slot: FhirSlot = {
    resourceType: 'Slot',
    id: '1',
    status: 'free',
    extension: [{ url: 'https://ehr.example/room', valueString: '7' }],
  };
  const until = new Date(now.getTime() + 1000);

  test('carries the owner and the end of its claim, and is unchanged once freed', () => {
    const held = claimedSlot(slot, 'busy-tentative', { owner: 'me', until });
    expect(claimOf(held)).toEqual({ owner: 'me', until });
    expect(slotState(held, now)).toBe('taken');
    expect(slotState(held, until)).toBe('expired');
    const booked = claimedSlot(held, 'busy', { owner: 'me', until: null });
    expect(claimOf(booked)).toEqual({ owner: 'me', until: null });
    expect(slotState(booked, until)).toBe('taken');
    expect(freedSlot(booked)).toEqual(slot);
  });

  test.each(['busy', 'busy-unavailable', 'busy-tentative', 'entered-in-error'])(
    'without a claim is taken with the status %s',
    (status) => {
      expect(slotState({ ...slot, status }, now)).toBe('taken');
    },
  );
});

describe('an Appointment', () => {
  /** Like https://hl7.org/fhir/R4/appointment-example.html. */
  const example: FhirAppointment = {
    resourceType: 'Appointment',
    id: 'a-1',
    status: 'booked',
    start: '2026-12-10T09:00:00Z',
    end: '2026-12-10T11:00:00Z',
    comment: 'Further expand on the results',
    participant: [
      { actor: { reference: 'Patient/p-1/_history/2' }, status: 'accepted' },
      { actor: { reference: 'Practitioner/r-1' }, status: 'accepted' },
    ],
  };
  const place: AppointmentIds = {
    careUnitId: 'north',
    placeOf: () => ({ resourceId: 'r-1', resourceName: null }),
    serviceOf: () => ({ id: 'consultation', durationMinutes: 20 }),
  };

  test('is mapped to an appointment of the port', () => {
    expect(toAppointment(example, place, dialect, sameClock)).toEqual({
      id: 'a-1',
      state: 'booked',
      heldUntil: null,
      start: new Date('2026-12-10T09:00:00Z'),
      end: new Date('2026-12-10T11:00:00Z'),
      comment: 'Further expand on the results',
      patientId: 'p-1',
      resourceId: 'r-1',
      resourceName: null,
      healthcareServiceId: 'consultation',
      careUnitId: 'north',
      attendance: null,
    });
  });

  test('of another care unit, or without a patient or a start, is null', () => {
    const elsewhere = { ...place, placeOf: () => undefined };
    expect(toAppointment(example, elsewhere, dialect, sameClock)).toBeNull();
    expect(toAppointment({ ...example, participant: [] }, place, dialect, sameClock)).toBeNull();
    const { start: _, ...timeless } = example;
    expect(toAppointment(timeless, place, dialect, sameClock)).toBeNull();
  });

  test('may have a duration instead of an end', () => {
    const { end: _, ...endless } = example;
    expect(appointmentTime({ ...endless, minutesDuration: 15 })?.end).toEqual(new Date('2026-12-10T09:15:00Z'));
  });

  test.each([
    ['booked', 'booked'],
    ['arrived', 'booked'],
    ['checked-in', 'booked'],
    ['fulfilled', 'booked'],
    ['proposed', 'pending'],
    ['pending', 'pending'],
    ['waitlist', 'pending'],
    ['cancelled', 'cancelled'],
    ['noshow', 'cancelled'],
    ['entered-in-error', 'cancelled'],
  ])('with the status %s has the state %s', (status, state) => {
    expect(standingOf({ ...example, status }, now).state).toBe(state);
  });

  test('is held until its hold expires, and cancelled from then on', () => {
    const until = new Date(now.getTime() + 1000);
    const held = withHold({ ...example, status: 'pending' }, until);
    expect(standingOf(held, now)).toEqual({ state: 'held', heldUntil: until, hasExpired: false });
    expect(standingOf(held, until)).toEqual({ state: 'cancelled', heldUntil: null, hasExpired: true });
    expect(withHold(held, null)).toEqual({ ...example, status: 'pending' });
    expect(held.extension?.[0]?.url).toBe('urn:crossward:held-until');
  });

  test('has its comment in the element that is configured', () => {
    expect(withComment(example, { commentField: 'comment' }, undefined)).toBe(example);
    expect(withComment(example, { commentField: 'comment' }, null)).not.toHaveProperty('comment');
    expect(withComment(example, { commentField: 'description' }, 'x')).toMatchObject({
      description: 'x',
      comment: example.comment,
    });
    const cancelled = { ...example, cancelationReason: { text: 'Ill' } };
    const reasonFirst = { ...dialect, cancelReason: 'cancelationReason' } as const;
    expect(toAppointment(cancelled, place, reasonFirst, sameClock)?.comment).toBe('Ill');
    expect(toAppointment(cancelled, place, dialect, sameClock)?.comment).toBe(example.comment);
  });

  test('keeps the operation id that created it and the latest six', () => {
    let appointment: FhirAppointment = { ...example, identifier: [{ system: 'https://ehr.example', value: '1' }] };
    for (let n = 0; n < 9; n++) appointment = remember(appointment, operationIdentifiers(`op${n}`, 1, 2));
    const keys = operationKeys(appointment);
    expect(new Set(keys.map((key) => key.split('.')[0]))).toEqual(
      new Set(['op0', 'op3', 'op4', 'op5', 'op6', 'op7', 'op8']),
    );
    expect(placesIn(appointment, 'op8')).toEqual([1]);
    expect(appointment.identifier?.[0]).toEqual({ system: 'https://ehr.example', value: '1' });
  });
});

test('a healthcare service is matched by system and code', () => {
  const type = [{ coding: [{ system: 'https://ehr.example', code: 'c' }], text: 'Consultation' }];
  const service = discoveredService({ resourceType: 'HealthcareService', id: '1', type });
  expect(service).toMatchObject({
    id: '1',
    name: 'Consultation',
    durationMinutes: null,
    reference: 'HealthcareService/1',
  });
  expect(hasCoding(service, type)).toBe(true);
  expect(hasCoding(service, [{ coding: [{ code: 'c' }] }])).toBe(false);
  const configured = configuredService({ id: 'c', name: 'C', duration_minutes: 20, service_types: [{ code: 'c' }] });
  expect(hasCoding(configured, [{ coding: [{ code: 'c' }] }])).toBe(true);
});

test('an operation is found in the CapabilityStatement by name or by definition', async () => {
  const statement = {
    resourceType: 'CapabilityStatement',
    rest: [
      {
        mode: 'server',
        interaction: [{ code: 'transaction' }],
        resource: [
          {
            type: 'Appointment',
            interaction: [{ code: 'read' }],
            operation: [
              {
                name: 'any',
                definition: 'https://profiles.ihe.net/ITI/Scheduling/OperationDefinition/appointment-find',
              },
              { name: '$book' },
            ],
          },
        ],
      },
    ],
  };
  const facts = await readServerFacts({
    read: async <Resource>() => statement as Resource,
    habits: createHabits(),
  });
  expect(facts.transactions).toBe(true);
  expect(['find', 'book', 'hold'].map((name) => facts.hasOperation('Appointment', name))).toEqual([true, true, false]);
  expect(facts.can('Appointment', 'update')).toBe(false);
});
