import type { ConnectorErrorKind } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import { outcome, outcomeInXml } from '../fake/outcome.ts';
import type { SeenRequest } from '../fake/server.ts';
import { type SpineCode, spineErrors } from '../src/spine-errors.ts';
import { book, change, creation, freeSlot, main, openPractice } from './practice.ts';

const range = { start: new Date(), end: new Date(Date.now() + 86_400_000) };
const isWrite = ({ method }: SeenRequest) => method !== 'GET';

/** The HTTP status of each code, and what a list of free slots, a booking and a cancellation then fail with. */
const codes: Readonly<
  Record<SpineCode, readonly [number, ConnectorErrorKind, ConnectorErrorKind, ConnectorErrorKind]>
> = {
  BAD_REQUEST: [400, 'rejected', 'rejected', 'rejected'],
  INVALID_IDENTIFIER_SYSTEM: [400, 'rejected', 'rejected', 'rejected'],
  INVALID_IDENTIFIER_VALUE: [400, 'rejected', 'rejected', 'rejected'],
  INVALID_NHS_NUMBER: [400, 'patient_not_found', 'patient_not_found', 'patient_not_found'],
  INVALID_PARAMETER: [422, 'rejected', 'rejected', 'rejected'],
  INVALID_RESOURCE: [422, 'rejected', 'rejected', 'rejected'],
  INVALID_PATIENT_DEMOGRAPHICS: [400, 'rejected', 'rejected', 'rejected'],
  PARAMETER_NOT_FOUND: [400, 'rejected', 'rejected', 'rejected'],
  NO_PATIENT_CONSENT: [403, 'rejected', 'rejected', 'rejected'],
  NO_ORGANISATION_CONSENT: [403, 'rejected', 'rejected', 'rejected'],
  ACCESS_DENIED: [403, 'rejected', 'rejected', 'rejected'],
  ORGANISATION_NOT_FOUND: [404, 'rejected', 'rejected', 'rejected'],
  PATIENT_NOT_FOUND: [404, 'patient_not_found', 'patient_not_found', 'patient_not_found'],
  PRACTITIONER_NOT_FOUND: [404, 'resource_not_found', 'resource_not_found', 'resource_not_found'],
  // Of a booking, the patient is there: it is the slot that is not.
  NO_RECORD_FOUND: [404, 'appointment_not_found', 'time_slot_unavailable', 'appointment_not_found'],
  REFERENCE_NOT_FOUND: [422, 'appointment_not_found', 'time_slot_unavailable', 'appointment_not_found'],
  FHIR_CONSTRAINT_VIOLATION: [409, 'unavailable', 'unavailable', 'unavailable'],
  DUPLICATE_REJECTED: [409, 'time_slot_unavailable', 'time_slot_unavailable', 'time_slot_unavailable'],
  NOT_IMPLEMENTED: [501, 'unsupported', 'unsupported', 'unsupported'],
};

test('every code has a meaning', () => {
  expect(Object.keys(codes)).toEqual(Object.keys(spineErrors));
});

describe.each(Object.entries(codes))('%s', (code, [status, onRead, onBooking, onCancelling]) => {
  const answer = { status, body: JSON.stringify(outcome(code)) };

  test('of a read', async () => {
    const { practice, connector } = await openPractice();
    practice.misbehave = () => answer;
    const list = connector.listTimeSlots({ careUnit: main, ...range, limit: 1 });
    await expect(list).rejects.toMatchObject({ kind: onRead, message: expect.stringContaining(code) });
  });

  test('of a booking and of a cancellation, which change nothing', async () => {
    const opened = await openPractice();
    const { practice } = opened;
    const { id: appointmentId } = await book(opened);
    const slot = await freeSlot(opened);
    practice.misbehave = (request) => (isWrite(request) ? answer : undefined);
    await expect(change(opened, creation(slot))).rejects.toMatchObject({ kind: onBooking });
    await expect(change(opened, { kind: 'cancel', appointmentId })).rejects.toMatchObject({ kind: onCancelling });
    expect(practice.appointments.all().map(({ content }) => content.status)).toEqual(['booked']);
  });
});

test.each([
  ['NO_PATIENT_CONSENT', /patient has not agreed/],
  ['NO_ORGANISATION_CONSENT', /has not agreed to share/],
  ['ACCESS_DENIED', /does not allow/],
])('%s is explained to the caller', async (code, words) => {
  const { practice, connector } = await openPractice();
  practice.misbehave = () => ({ status: 403, body: JSON.stringify(outcome(code)) });
  const found = connector.findPatient({ type: 'nhs_number', value: '9990000018' });
  await expect(found).rejects.toMatchObject({ kind: 'rejected', publicDetail: expect.stringMatching(words) });
});

test.each([
  [415, outcomeInXml('BAD_REQUEST'), 'rejected', /415/],
  [495, '<html>', 'rejected', /does not accept the client certificate/],
  [496, '<html>', 'rejected', /requires a client certificate/],
  [496, JSON.stringify(outcome('BAD_REQUEST')), 'rejected', /BAD_REQUEST.*requires a client certificate/],
  [461, '', 'rejected', /461/],
  [403, 'no', 'rejected', /403/],
  [418, JSON.stringify(outcome('A_NEW_CODE')), 'rejected', /418/],
  [418, JSON.stringify(outcome('ACCESS_DENIED')), 'rejected', /ACCESS_DENIED/],
  [500, JSON.stringify(outcome('BAD_REQUEST')), 'rejected', /500 \(BAD_REQUEST\)/],
  [501, '', 'unsupported', /501/],
  [200, JSON.stringify(outcome('BAD_REQUEST')), 'rejected', /200 \(BAD_REQUEST\)/],
  [200, JSON.stringify(outcome(undefined)), 'rejected', /200/],
] as const)('%i with %s is %s', async (status, body, kind, words) => {
  const opened = await openPractice();
  const slot = await freeSlot(opened);
  opened.practice.misbehave = (request) => (isWrite(request) ? { status, body } : undefined);
  const booking = change(opened, creation(slot));
  await expect(booking).rejects.toMatchObject({ kind, message: expect.stringMatching(words) });
  await expect(booking).rejects.not.toMatchObject({ message: expect.stringMatching(/Meadow|9990000018/) });
});

test.each([
  [500, ''],
  [500, JSON.stringify(outcome('INTERNAL_SERVER_ERROR'))],
  [201, ''],
  [201, '<Appointment/>'],
  [201, JSON.stringify({ resourceType: 'Bundle' })],
])('a booking that is answered with %i and %s may have been made', async (status, body) => {
  const opened = await openPractice();
  const slot = await freeSlot(opened);
  opened.practice.misbehave = (request) => (isWrite(request) ? { status, body } : undefined);
  await expect(change(opened, creation(slot))).rejects.toMatchObject({ kind: 'outcome_unknown' });
});

test('it is too late to cancel', async () => {
  const opened = await openPractice();
  const { id: appointmentId } = await book(opened);
  opened.practice.misbehave = (request) => (isWrite(request) ? { status: 461, body: '' } : undefined);
  const cancelled = change(opened, { kind: 'cancel', appointmentId });
  await expect(cancelled).rejects.toMatchObject({ publicDetail: expect.stringMatching(/too late/) });
});
