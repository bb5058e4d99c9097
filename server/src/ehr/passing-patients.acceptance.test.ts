/** @module-tag any-database */
import { randomBytes } from 'node:crypto';
import type { PatientDetails, TimeSlotQuery } from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { withPassingPatients } from '../../../test/ehrs/passing-ehr.ts';
import { type Gateway, type GatewayResponse, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  at,
  consecutiveSlots,
  creationBody,
  freeSlot,
  freeSlots,
  idsIn,
  pagesOf,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  messagesAbout,
  rowsOf,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';
import { searchEntries } from '../audit/search.ts';
import { auditEntries, patientHashes } from '../audit/test-audit.ts';
import { createDb } from '../db/kysely.ts';

const seen = {
  patients: [] as string[],
  details: [] as (PatientDetails | undefined)[],
  searches: [] as TimeSlotQuery[],
};
const ehrs = faultyEhrs();
const noCode = { booking_confirmation: 'none' as const };
const required = { patientDetails: 'required', slotsByPatient: 'required' } as const;

/** `passing`: without codes. `holding`: with codes and holds. `drafting`: with codes, without holds, and it needs details. */
const gateway = await startGateway({
  logLevel: 'trace',
  connectors: [
    wrapConnector((connector, emr) => {
      if (emr === 'passing') return ehrs.faulty(withPassingPatients(connector, seen), emr);
      if (emr === 'holding')
        return withPassingPatients(connector, seen, { patientDetails: 'optional', slotsByPatient: 'optional' });
      if (emr === 'drafting') return withPassingPatients(withoutHolds(connector), seen, required);
      if (emr === 'two-step') return withPassingPatients(connector, seen);
      return connector;
    }),
  ],
  configure: (demo) =>
    [
      { id: 'passing', like: 'sandbox-se', policies: noCode },
      { id: 'holding', like: 'sandbox-se', policies: { limits_per_patient: { pending: 2, codes_per_hour: 100 } } },
      { id: 'drafting', like: 'sandbox-se', policies: { limits_per_patient: { pending: 2, codes_per_hour: 100 } } },
      { id: 'two-step', like: 'sandbox-se', policies: { ...noCode, cancellation_confirmation: 'code' as const } },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());
beforeEach(() => {
  ehrs.reset();
  for (const list of Object.values(seen)) list.length = 0;
});

const passing = careUnitPath('passing', 'sodermalm');
const holding = careUnitPath('holding', 'sodermalm');
const twoStep = careUnitPath('two-step', 'sodermalm');
const drafting = careUnitPath('drafting', 'sodermalm');
const anna = await numberOf('p-1');
const bengt = await numberOf('p-2');
const details = { given_name: 'Anna', family_name: 'Ask', phone: '+46701740999' };
const known: PatientDetails = { givenName: 'Anna', familyName: 'Ask', phone: '+46701740999', email: null };

async function numberOf(patientId: string): Promise<string> {
  const { body } = await gateway.request<{ identifiers: string[] }>('GET', `${sodermalm}/patients/${patientId}`);
  return body.identifiers.find((it) => it.startsWith('se_')) ?? '';
}

function expectReason({ status, body }: GatewayResponse, expected: number, reason: string): void {
  expect({ status, reason: (body as { readonly reason?: string }).reason }).toEqual({ status: expected, reason });
}

/** A free slot of an EHR that searches for one patient. */
async function slotsOf(careUnit: string, patientId: string, count: number) {
  const from = new Date(Date.now() + 7 * 86_400_000);
  const query = new URLSearchParams({
    start: from.toISOString(),
    end: new Date(from.getTime() + 28 * 86_400_000).toISOString(),
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    patient_id: patientId,
    limit: String(count),
  });
  const { body } = await gateway.request<{ timeslots: Awaited<ReturnType<typeof freeSlots>> }>(
    'GET',
    `${careUnit}/timeslots?${query}`,
  );
  return body.timeslots;
}

async function book(patientId = anna, careUnit = passing, more: object = {}): Promise<Appointment> {
  const slots = careUnit === drafting ? await slotsOf(careUnit, patientId, 1) : [await freeSlot(gateway, { careUnit })];
  const [slot] = slots;
  if (!slot) throw new Error('No free time slot');
  const { status, body, text } = await careUnitOf(gateway, careUnit).create({
    ...creationBody(slot),
    patient_id: patientId,
    ...more,
  });
  if (status !== 201) throw new Error(`Booking failed: ${text}`);
  return body;
}

describe('patients whose identifiers pass through', () => {
  test('have a token in place of the number, the same in every response', async () => {
    const first = await book();
    expect(first.patient_id).toMatch(/^emr_id:[\w-]{60,100}$/);
    expect((await book()).patient_id).toBe(first.patient_id);
    expect((await book(bengt)).patient_id).not.toBe(first.patient_id);
    expect((await book(first.patient_id)).patient_id).toBe(first.patient_id);
    expect((await careUnitOf(gateway, passing).get(first.id)).patient_id).toBe(first.patient_id);
    expect(new Set(seen.patients)).toEqual(new Set([anna, bengt]));
    const digits = anna.slice('se_personal_number:'.length);
    for (const text of [first.patient_id, Buffer.from(first.patient_id.slice(7), 'base64url').toString('latin1')]) {
      expect(text).not.toContain(digits);
    }
  });

  test.each([
    ['the number', () => anna],
    ['ten digits', () => anna.replace(/:19(\d{6})/, ':$1+')],
    ['the token', async () => (await book()).patient_id],
    ['the token without its type', async () => (await book()).patient_id.replace('emr_id:', '')],
    ['a header', () => 'header:x-patient'],
  ])('are found in lists by %s', async (_, named) => {
    const { id } = await book();
    const text = await named();
    const { body, status } = await gateway.request<{ appointments: Appointment[] }>(
      'GET',
      `${passing}/appointments?patient_id=${encodeURIComponent(text)}&limit=500`,
      { headers: { 'x-patient': anna } },
    );
    expect(status).toBe(200);
    expect(idsIn(body.appointments)).toContain(id);
    expect(new Set(body.appointments.map(({ patient_id }) => patient_id)).size).toBe(1);
  });

  test('cannot be looked up, whatever is sent', async () => {
    const { patient_id } = await book();
    for (const text of [anna, patient_id, 'nobody', 'se_personal_number:1']) {
      expectReason(
        await gateway.request('GET', `${passing}/patients/${encodeURIComponent(text)}`),
        501,
        'operation_unsupported',
      );
    }
    const { body } = await gateway.request<{ capabilities: { operations: string[] } }>('GET', '/api/emrs/passing');
    expect(body.capabilities).toMatchObject({
      patient_identifier_types: ['emr_id', 'se_personal_number'],
      passes_through: ['se_personal_number'],
      patient_details: 'none',
      timeslots_by_patient: 'none',
    });
    expect(body.capabilities.operations).not.toContain('get_patient');
    expect(body.capabilities.operations).toEqual(
      expect.arrayContaining(['create_appointment', 'list_appointments', 'list_medical_notes', 'create_document']),
    );
  });

  test('are not found by a token of another EHR, a changed one, or any other text', async () => {
    const { patient_id: token } = await book();
    const { patient_id: elsewhere } = await book(anna, twoStep);
    const changed = `${token.slice(0, -3)}${token.at(-3) === 'A' ? 'B' : 'A'}${token.slice(-2)}`;
    for (const text of [elsewhere, changed, `${token}=`, 'p-3', 'emr_id:se_personal_number:191212121212']) {
      const response = await gateway.request('GET', `${passing}/appointments?patient_id=${encodeURIComponent(text)}`);
      expectReason(response, 400, 'identifier_malformed');
    }
    const inHeader = await gateway.request('GET', `${passing}/appointments?patient_id=header:x-patient`, {
      headers: { 'x-patient': elsewhere },
    });
    expect(inHeader.body).toMatchObject({ reason: 'identifier_malformed', errors: [{ header: 'x-patient' }] });
    const malformed = await gateway.request(
      'GET',
      `${passing}/appointments?patient_id=se_personal_number:191212121213`,
    );
    expectReason(malformed, 400, 'identifier_malformed');
    const otherType = await gateway.request('GET', `${passing}/appointments?patient_id=nhs_number:9434765919`);
    expectReason(otherType, 400, 'identifier_type_unsupported');
  });

  test('have medical notes, by number and by token', async () => {
    const created = await gateway.request<{ id: string; patient_id: string }>(
      'POST',
      `${passing}/patients/${anna}/medical-notes`,
      { body: { text: 'A note', appointment_id: (await book()).id } },
    );
    expect(created.status).toBe(201);
    const { patient_id, id } = created.body;
    expect(created.headers.location).toBe(`${passing}/patients/${encodeURIComponent(patient_id)}/medical-notes/${id}`);
    expect((await gateway.request('GET', created.headers.location ?? '')).body).toEqual(created.body);
    for (const text of [anna, patient_id]) {
      const { body } = await gateway.request<{ medical_notes: { id: string }[] }>(
        'GET',
        `${passing}/patients/${text}/medical-notes`,
      );
      expect(body.medical_notes[0]).toEqual(created.body);
    }
    const ofAnother = { text: 'A note', appointment_id: (await book(bengt)).id };
    const refused = await gateway.request('POST', `${passing}/patients/${anna}/medical-notes`, { body: ofAnother });
    expectReason(refused, 400, 'appointment_not_found');
  });

  test('have documents, by number and by token', async () => {
    const content = Buffer.from('A document').toString('base64');
    const created = await gateway.request<{ id: string; patient_id: string }>(
      'POST',
      `${passing}/patients/${anna}/documents`,
      { body: { content_type: 'text/plain', content } },
    );
    expect(created.status).toBe(201);
    for (const text of [anna, created.body.patient_id]) {
      const path = `${passing}/patients/${text}/documents`;
      expect((await gateway.request('GET', `${path}/${created.body.id}`)).body).toEqual(created.body);
      expect((await gateway.request('GET', `${path}/${created.body.id}/content`)).text).toBe('A document');
    }
  });

  test('are the same in a replay', async () => {
    const slot = await freeSlot(gateway, { careUnit: passing });
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const request = { body: { ...creationBody(slot), patient_id: anna }, headers };
    const first = await gateway.request<Appointment>('POST', `${passing}/appointments`, request);
    const again = await gateway.request<Appointment>('POST', `${passing}/appointments`, request);
    expect(again).toMatchObject({ status: 201, body: first.body, headers: { 'idempotency-replayed': 'true' } });
    const other = { body: { ...request.body, patient_id: first.body.patient_id }, headers };
    expectReason(await gateway.request('POST', `${passing}/appointments`, other), 422, 'idempotency_key_reused');
  });

  test.each([true, false])('are found again when the answer to a booking was lost (done: %s)', async (isDone) => {
    const slot = await freeSlot(gateway, { careUnit: passing });
    const request = {
      body: { ...creationBody(slot), patient_id: anna },
      headers: { 'idempotency-key': crypto.randomUUID() },
    };
    ehrs.of('passing').loseResponse({ isDone });
    const lost = await gateway.request('POST', `${passing}/appointments`, request);
    expect([lost.status, Reflect.get(lost.body as object, 'reason')]).toEqual([504, 'outcome_unknown']);
    // A background job may be looking for it at the same time.
    const found = await eventually(async () => {
      const response = await gateway.request<Appointment>('POST', `${passing}/appointments`, request);
      expect(response.status).not.toBe(409);
      return response;
    });
    expect(found).toMatchObject({ status: 201, body: { ...at(slot), patient_id: (await book()).patient_id } });
    const all = (await gateway.ehr('passing').appointments()).filter(
      (it) => it.state === 'booked' && it.start.getTime() === Date.parse(slot.start) && it.resourceId === 'r-1',
    );
    expect(all).toHaveLength(1);
    expect(await unfinishedOperations(gateway, 'passing')).toEqual([]);
  });

  test('are rescheduled, with new appointments for a longer range', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: passing });
    const careUnit = careUnitOf(gateway, passing);
    const { body: first } = await careUnit.create({ ...creationBody(slots[0] as never), patient_id: anna });
    const { status, body } = await careUnit.changeMany([first.id], {
      start: slots[0]?.start,
      end: slots[2]?.end,
    });
    expect(status).toBe(200);
    expect(body.appointments.map(({ patient_id }) => patient_id)).toEqual(Array(3).fill(first.patient_id));
  });

  test('are told apart in the audit trail, by number or token', async () => {
    const { id, patient_id } = await book();
    await book(bengt);
    const { audit, db } = gateway.deps.services;
    const [byNumber] = patientHashes(gateway, 'passing', anna);
    expect(patientHashes(gateway, 'passing', patient_id)).toEqual([byNumber]);
    const entries = (await auditEntries(db)).filter(({ record_ids }) => record_ids.includes(id));
    expect(entries.length).toBeGreaterThan(0);
    for (const { patient_hashes } of entries) {
      expect(patient_hashes.map((hash) => hash.toString('hex'))).toEqual([byNumber]);
    }
    for (const patient of [anna, patient_id]) {
      const found = await searchEntries(db, [audit.key], { emr: 'passing', patients: [patient] }, { limit: 100_000 });
      expect(found.some(({ record_ids }) => record_ids.includes(id))).toBe(true);
      expect(found.every(({ patient_hashes }) => patient_hashes.length === 1)).toBe(true);
    }
  });

  test('get no code for a cancellation, because nobody knows their phone number', async () => {
    const { id } = await book(anna, twoStep);
    expectReason(await careUnitOf(gateway, twoStep).cancel(id), 409, 'no_contact_channel');
  });
});

// Two gateways with different keys share one database, which PGlite cannot.
describe.skipIf(inject('databaseKind') === 'pglite')('a new secret key', () => {
  let rotated: Gateway | undefined;
  afterAll(() => rotated?.close());

  test('changes the token; the former one is still understood', async () => {
    const before = await book();
    const waiting = await book(anna, holding, { patient_details: details });
    const { ground } = gateway;
    rotated = await startGateway({
      connectors: [
        wrapConnector((connector) =>
          withPassingPatients(connector, seen, { patientDetails: 'optional', slotsByPatient: 'optional' }),
        ),
      ],
      configure: (demo) =>
        [
          { id: 'passing', like: 'sandbox-se', policies: noCode },
          { id: 'holding', like: 'sandbox-se', policies: { limits_per_patient: { pending: 2, codes_per_hour: 100 } } },
        ].reduce(withEhr, { ...demo, emrs: demo.emrs.filter(({ id }) => id === 'sandbox-se') }),
      beside: { ...gateway, ground: { ...ground, secretKeys: [randomBytes(32), ...ground.secretKeys] } },
    });
    const now = await careUnitOf(rotated, passing).get(before.id);
    expect(now.patient_id).not.toBe(before.patient_id);
    for (const text of [anna, before.patient_id, now.patient_id]) {
      const found = await careUnitOf(rotated, passing).list(`patient_id=${text}&limit=500`);
      expect(idsIn(found)).toContain(before.id);
      expect(new Set(found.map(({ patient_id }) => patient_id))).toEqual(new Set([now.patient_id]));
    }
    // What was hashed under the former key still counts.
    const slots = await freeSlots(rotated, { careUnit: holding, limit: 3 });
    const create = (index: number, patient_id: string) =>
      careUnitOf(rotated as Gateway, holding).create({
        ...creationBody(slots[index] as never),
        patient_id,
        patient_details: details,
      });
    expect((await create(0, waiting.patient_id)).status).toBe(201);
    expectReason(await create(1, anna), 429, 'patient_limit_reached');
  });
});

describe('details of a patient', () => {
  test('are needed where the EHR needs them, and refused where it takes none', async () => {
    const [slot] = await slotsOf(drafting, bengt, 1);
    const send = (careUnit: string, patient_details: unknown) =>
      gateway.request('POST', `${careUnit}/appointments`, {
        body: { ...creationBody(slot as never), patient_id: bengt, patient_details },
      });
    const faults = async (careUnit: string, patient_details: unknown) => {
      const { status, body } = await send(careUnit, patient_details);
      const { reason, errors } = body as { reason: string; errors: { pointer: string }[] };
      return [status, reason, errors.map(({ pointer }) => pointer)];
    };
    expect(await faults(drafting, undefined)).toEqual([400, 'request_invalid', ['/patient_details']]);
    expect(await faults(drafting, { given_name: 'Bo' })).toEqual([
      400,
      'request_invalid',
      ['/patient_details/family_name'],
    ]);
    expect(await faults(passing, details)).toEqual([400, 'request_invalid', ['/patient_details']]);
    for (const [name, value] of [
      ['given_name', ' '],
      ['given_name', 'A\nB'],
      ['family_name', ''],
      ['phone', '0701740999'],
      ['phone', '+46 70 174 09 99'],
      ['phone', '+4670174'],
      ['given_name', 'An\u202ena'],
      ['email', 'anna'],
      ['email', 'anna@example.org\r\nBcc: b@example.org'],
      ['phone', null],
      ['middle_name', 'Bo'],
    ] as const) {
      expect(await faults(drafting, { ...details, [name]: value })).toEqual([
        400,
        'request_invalid',
        [`/patient_details/${name}`],
      ]);
    }
    const { body } = await gateway.request('GET', '/api/emrs/drafting');
    expect(body).toMatchObject({ capabilities: { patient_details: 'required', timeslots_by_patient: 'required' } });
    // Without a code, and without a way to reach the patient.
    expectReason(await send(drafting, { given_name: 'Bo', family_name: 'Ek' }), 409, 'no_contact_channel');
  });

  test('reach the EHR with the booking, and their phone gets the code', async () => {
    const held = await book(anna, holding, { patient_details: details });
    expect(seen.details).toEqual([known]);
    const [message] = await messagesAbout(gateway, held.id);
    expect(message).toMatchObject({ channel: 'sms', to: details.phone });
    const { resend, confirm, get } = careUnitOf(gateway, holding);
    await backdateCode(gateway, confirmationOf(held).id, 31);
    expect((await resend(held.id)).status).toBe(202);
    const [second] = await messagesAbout(gateway, held.id, 2);
    expect(second).toMatchObject({ to: details.phone });
    expect((await confirm(held.id, await codeFor(gateway, held.id, 2))).status).toBe(200);
    expect(await get(held.id)).toMatchObject({ status: 'booked', patient_id: held.patient_id });
    const kept = await rowsOf(
      gateway,
      'SELECT 1 FROM confirmation_items WHERE appointment_id = $1 AND sealed_patient_details IS NOT NULL',
      [held.id],
    );
    expect(kept).toEqual([]);
  });

  test('stay encrypted with a draft until its code is confirmed', async () => {
    const draft = await book(anna, drafting, { patient_details: details, comment: 'c' });
    expect(draft).toMatchObject({ status: 'awaiting_confirmation', confirmation: { channel: 'sms' } });
    expect(seen.details).toEqual([]);
    expect(seen.patients.every((it) => it === anna)).toBe(true);
    const { get, list, confirm, resend } = careUnitOf(gateway, drafting);
    expect(await get(draft.id)).toMatchObject({ patient_id: draft.patient_id, comment: 'c' });
    for (const text of [anna, draft.patient_id]) {
      expect(idsIn(await list(`patient_id=${text}&status=awaiting_confirmation`))).toContain(draft.id);
    }
    expect(idsIn(await list(`patient_id=${bengt}`))).not.toContain(draft.id);
    await messagesAbout(gateway, draft.id);
    await backdateCode(gateway, confirmationOf(draft).id, 31);
    expect((await resend(draft.id)).status).toBe(202);
    const [message] = await messagesAbout(gateway, draft.id, 2);
    expect(message?.to).toBe(details.phone);
    const { status, body } = await confirm(draft.id, await codeFor(gateway, draft.id, 2));
    expect(status).toBe(200);
    expect(body).toEqual({ ...draft, status: 'booked', confirmation: null });
    expect(seen.details).toEqual([known]);
  });

  test('do not let a patient have more codes: number and token count as one', async () => {
    const { create, cancel } = careUnitOf(gateway, drafting);
    const one = await book(bengt, drafting, { patient_details: details });
    const two = await book(one.patient_id, drafting, { patient_details: details });
    const [slot] = await slotsOf(drafting, bengt, 1);
    for (const patient_id of [bengt, one.patient_id]) {
      const body = { ...creationBody(slot as never), patient_id, patient_details: details };
      expectReason(await create(body), 429, 'patient_limit_reached');
      expectReason(await create(body, '?dry_run=true'), 429, 'patient_limit_reached');
    }
    for (const { id } of [one, two]) expect((await cancel(id)).status).toBe(200);
  });

  test('are not shown by a dry run', async () => {
    const [slot] = await slotsOf(drafting, anna, 1);
    const body = { ...creationBody(slot as never), patient_id: anna, patient_details: details };
    const response = await careUnitOf(gateway, drafting).create(body, '?dry_run=true');
    expect(response.status).toBe(200);
    expect(response.text).not.toMatch(/Anna|Ask|46701740999/);
    expect(seen.details).toEqual([]);
  });

  test('cannot be sent with a reschedule, so that it creates no appointments there', async () => {
    const slots = await slotsOf(drafting, anna, 20);
    // The first one may be the last of its day.
    const first = slots.findIndex(({ end }, index) => slots[index + 1]?.start === end);
    const draft = await book(anna, drafting, { patient_details: details });
    const { confirm, changeMany } = careUnitOf(gateway, drafting);
    const { body: booked } = await confirm(draft.id, await codeFor(gateway, draft.id));
    const range = { start: slots[first]?.start, end: slots[first + 1]?.end };
    expectReason(await changeMany([booked.id], range), 501, 'operation_unsupported');
    seen.searches.length = 0;
    expect((await changeMany([booked.id], at(booked as never))).status).toBe(200);
    expect(seen.searches).toMatchObject([{ patientId: anna, forAppointment: expect.any(String) }]);
  });
});

describe('time slots of one patient', () => {
  const range = { start: '2031-03-17T08:00:00', end: '2031-03-18T00:00:00' };
  const path = (careUnit: string, more: Record<string, string> = {}) =>
    `${careUnit}/timeslots?${new URLSearchParams({ ...range, ...more })}`;

  test('need the patient where the EHR needs it, and never elsewhere', async () => {
    for (const response of [
      await gateway.request('GET', path(drafting)),
      await gateway.request('GET', path(passing, { patient_id: anna })),
    ]) {
      expect(response).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ parameter: 'patient_id' }] },
      });
    }
    expect((await gateway.request('GET', path(passing))).status).toBe(200);
    expect((await gateway.request('GET', path(holding))).status).toBe(200);
    expect(seen.searches.map(({ patientId }) => patientId)).toEqual([undefined, undefined]);
    const malformed = await gateway.request('GET', path(drafting, { patient_id: 'se_personal_number:1' }));
    expect(malformed).toMatchObject({ status: 400, body: { reason: 'identifier_malformed' } });
  });

  test('are searched with the number, and a cursor is for one patient', async () => {
    const { patient_id } = await book(anna, holding, { patient_details: details });
    seen.searches.length = 0;
    const found = await Promise.all(
      [anna, patient_id, 'header:x-patient'].map(async (text) => {
        const response = await gateway.request<{ timeslots: object[] }>('GET', path(holding, { patient_id: text }), {
          headers: { 'x-patient': anna },
        });
        return response.body.timeslots;
      }),
    );
    expect(found[0]?.length).toBeGreaterThan(0);
    expect(found).toEqual([found[0], found[0], found[0]]);
    expect(new Set(seen.searches.map((it) => it.patientId))).toEqual(new Set([anna]));
    const first = await gateway.request<{ next_cursor: string }>(
      'GET',
      path(holding, { patient_id: anna, limit: '2' }),
    );
    const cursor = first.body.next_cursor;
    const next = (named: string) => gateway.request('GET', path(holding, { patient_id: named, limit: '2', cursor }));
    expect((await next(patient_id)).status).toBe(200);
    expect(await next(bengt)).toMatchObject({ status: 400, body: { reason: 'cursor_invalid' } });
    const without = await gateway.request('GET', path(holding, { limit: '2', cursor }));
    expect(without).toMatchObject({ status: 400, body: { reason: 'cursor_invalid' } });
  });

  test('are of one patient alone: searches of two at once do not share a result', async () => {
    await Promise.all(
      [anna, bengt, anna, bengt].map((patient_id) => gateway.request('GET', path(drafting, { patient_id }))),
    );
    expect(new Set(seen.searches.map((it) => it.patientId))).toEqual(new Set([anna, bengt]));
  });

  test('leave an entry in the audit trail, and other searches none', async () => {
    const db = createDb(gateway.database);
    const entriesOf = async (more: Record<string, string>) => {
      const { headers } = await gateway.request('GET', path(holding, more));
      return auditEntries(db, String(headers['x-request-id']));
    };
    const [entry, ...others] = await entriesOf({ patient_id: anna });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ operation: 'list_timeslots', outcome: 'success' });
    expect(entry?.patient_hashes.map((it) => it.toString('hex'))).toEqual(patientHashes(gateway, 'holding', anna));
    expect(await entriesOf({})).toEqual([]);
    expect(await entriesOf({ cursor: 'x' })).toEqual([]);
    expect(await entriesOf({ patient_id: anna, cursor: 'x' })).toMatchObject([{ outcome: 'cursor_invalid' }]);
  });

  test('have pages', async () => {
    const pages = await pagesOf<object>(gateway, path(drafting, { patient_id: anna, limit: '3' }), 'timeslots');
    const all = await slotsInOnePage();
    expect(pages.flat()).toEqual(all);
  });

  async function slotsInOnePage() {
    const { body } = await gateway.request<{ timeslots: object[] }>(
      'GET',
      path(drafting, { patient_id: anna, limit: '500' }),
    );
    return body.timeslots;
  }
});
