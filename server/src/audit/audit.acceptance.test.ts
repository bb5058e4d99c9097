import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { exampleRequest } from '../../../test/cases/access-cases.ts';
import { type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  around,
  book,
  creationBody,
  freeSlot,
  idsIn,
  oslo,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { eventually, expireCode, runBackgroundJobs } from '../../../test/requests/codes.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { bookWithPage, browserOf, withPages } from '../../../test/requests/patient-page.ts';
import { newRequestId } from '../../../test/requests/request-id.ts';
import { readAuditKeys } from './audit-keys.ts';
import { auditEntries, patientHashes } from './test-audit.ts';
import { type AuditVerdict, verifyChains } from './verify.ts';

const gateway = await startGateway({ configure: withPages });
afterAll(() => gateway.close());
const { db } = gateway.deps.services;

/** Sends a request, and returns its entry. */
async function audited(method: string, path: string, options: RequestOptions = {}) {
  const requestId = newRequestId();
  const response = await gateway.request<{ id: string }>(method, path, {
    ...options,
    headers: { ...options.headers, 'x-request-id': requestId },
  });
  const entries = await auditEntries(db, requestId);
  expect(entries).toHaveLength(1);
  const { patient_hashes, ...entry } = entries[0] as (typeof entries)[0];
  return { response, entry: { ...entry, patients: patient_hashes.map((hash) => hash.toString('hex')).sort() } };
}

const hashes = (...identifiers: string[]) => patientHashes(gateway, 'sandbox-no', ...identifiers).sort();
const kari = hashes('emr_id:p-1', 'no_personal_number:15859000026');

describe('an entry says who had access to whose record, when, by what, and with which outcome', () => {
  test('for a patient, by any identifier', async () => {
    const before = Date.now();
    for (const id of ['p-1', 'no_personal_number:15859000026']) {
      const { entry } = await audited('GET', `${oslo}/patients/${id}`);
      expect(entry).toMatchObject({
        actor_kind: 'client',
        client_id: 'everything',
        operation: 'get_patient',
        emr: 'sandbox-no',
        care_unit_id: 'oslo-sentrum',
        outcome: 'success',
        record_ids: [],
        patients: kari,
      });
      expect(entry.at.getTime()).toBeGreaterThanOrEqual(before);
      expect(entry.at.getTime()).toBeLessThanOrEqual(Date.now());
    }
  });

  test('and no national number, even in a request id', async () => {
    const given = '00000000-0000-0000-0000-015859000026';
    const response = await gateway.request('GET', `${oslo}/patients/p-1`, { headers: { 'x-request-id': given } });
    expect(response.headers['x-request-id']).not.toBe(given);
    expect(await auditEntries(db, given)).toEqual([]);
    expect(await auditEntries(db, String(response.headers['x-request-id']))).toHaveLength(1);
  });

  test('for an identifier in a header', async () => {
    const headers = { 'x-patient': 'no_personal_number:15859000026' };
    expect((await audited('GET', `${oslo}/patients/header:x-patient`, { headers })).entry.patients).toEqual(kari);
  });

  test('for a booking, its dry run, its replay and its failure', async () => {
    const slot = await freeSlot(gateway);
    const body = { ...creationBody(slot), patient_id: 'no_personal_number:15859000026' };
    const send = (query = '', headers: Record<string, string> = {}) =>
      audited('POST', `${oslo}/appointments${query}`, { body, headers });
    const key = { 'idempotency-key': newKey() };
    const preview = await send('?dry_run=true');
    const booked = await send('', key);
    const replayed = await send('', key);
    const taken = await send();
    const { id } = booked.response.body;
    expect(preview.entry).toMatchObject({ outcome: 'dry_run', patients: kari, record_ids: [] });
    expect(booked.entry).toMatchObject({ outcome: 'success', patients: kari, record_ids: [id] });
    expect(replayed.entry).toMatchObject({ outcome: 'replayed', patients: kari, record_ids: [id] });
    expect(taken.entry).toMatchObject({ outcome: 'time_slot_unavailable', patients: kari, record_ids: [] });
  });

  test('for a list with several patients', async () => {
    const patients = ['p-7', 'p-8'];
    const ids: string[] = [];
    for (const patientId of patients) ids.push((await book(gateway, { patientId })).id);
    const { entry } = await audited('GET', `${oslo}/appointments?resource_id=r-1&limit=100`);
    expect(entry.operation).toBe('list_appointments');
    expect(entry.patients).toEqual(expect.arrayContaining(hashes('emr_id:p-7', 'emr_id:p-8')));
    expect(entry.record_ids).toEqual(expect.arrayContaining(ids));
  });

  test('for a patient who does not exist', async () => {
    const { entry } = await audited('GET', `${oslo}/patients/nobody`);
    expect(entry).toMatchObject({ outcome: 'patient_not_found', patients: hashes('emr_id:nobody') });
  });

  test('for a request that is not valid or not allowed', async () => {
    const invalid = await audited('GET', `${oslo}/appointments?limit=x`);
    expect(invalid.entry).toMatchObject({ outcome: 'request_invalid', patients: [] });
    const forbidden = await audited('GET', `${oslo}/patients/p-1`, { client: 'webhooks:manage' });
    expect(forbidden.entry).toMatchObject({ outcome: 'scope_missing', client_id: 'webhooks-manage' });
    const unreadable = await audited('POST', `${oslo}/appointments`, { body: '{' });
    expect(unreadable.entry).toMatchObject({ outcome: 'request_invalid' });
  });

  test.each([
    ['in the path, without the scope', 'GET', 'patients/p-1', { client: 'webhooks:manage' }, 'scope_missing'],
    ['in the path, with an invalid query', 'GET', 'patients/p-1/documents?limit=x', {}, 'request_invalid'],
    ['in the query', 'GET', 'appointments?patient_id=p-1&limit=x', {}, 'request_invalid'],
    ['in the body', 'POST', 'appointments', { body: { patient_id: 'p-1' } }, 'request_invalid'],
    [
      'in a header',
      'GET',
      'patients/header:x-patient?x=y',
      { headers: { 'x-patient': 'emr_id:p-1' } },
      'request_invalid',
    ],
  ] as const)('for a patient who is named %s', async (_, method, path, options, outcome) => {
    const { entry } = await audited(method, `${oslo}/${path}`, options);
    expect(entry).toMatchObject({ outcome, patients: hashes('emr_id:p-1') });
  });

  test('for a code that is resent too early', async () => {
    const { id, patient_id } = await book(gateway, { careUnit: sodermalm });
    const { entry } = await audited('POST', `${sodermalm}/appointments/${id}/confirmation`);
    expect(entry).toMatchObject({
      outcome: 'rate_limited',
      record_ids: [id],
      patients: patientHashes(gateway, 'sandbox-se', patient_id),
    });
  });

  test('for an incorrect code, whose request names the appointment only', async () => {
    const body = creationBody(await freeSlot(gateway, { careUnit: sodermalm }));
    const { response } = await audited('POST', `${sodermalm}/appointments`, { body });
    const { id } = response.body;
    const { entry } = await audited('PATCH', `${sodermalm}/appointments/${id}`, {
      body: { confirmation: { code: '000' } },
    });
    expect(entry).toMatchObject({
      outcome: 'confirmation_code_incorrect',
      record_ids: [id],
      patients: patientHashes(gateway, 'sandbox-se', `emr_id:${body.patient_id}`),
    });
  });
});

describe('exactly one entry for each request', () => {
  const operations = gateway.app.endpointDeps.endpoints;
  test.each(operations.filter(({ audit }) => typeof audit === 'function').map((it) => [it.operationId, it] as const))(
    'to %s',
    async (name, operation) => {
      const { method, path, options } = exampleRequest(operation);
      const { entry } = await audited(method, path, options);
      expect(entry.operation).toBe(name);
    },
  );

  test('that a HEAD request is', async () => {
    expect((await audited('HEAD', `${oslo}/patients/p-1`)).entry.outcome).toBe('success');
  });

  test('and none for requests without patients', async () => {
    const before = (await auditEntries(db)).length;
    for (const operation of operations.filter(({ audit }) => typeof audit !== 'function')) {
      const { method, path, options } = exampleRequest(operation);
      await gateway.request(method, path, options);
    }
    await gateway.request('GET', `${oslo}/patients/p-1`, { client: null });
    expect(await auditEntries(db)).toHaveLength(before);
  });
});

describe('an entry without a request of a client says so', () => {
  const ofPatient = ({ patient_hashes }: Awaited<ReturnType<typeof auditEntries>>[0]) =>
    patient_hashes.map((hash) => hash.toString('hex'));

  test('for the page for patients', async () => {
    const { path, appointment } = await bookWithPage(gateway);
    const before = await auditEntries(db);
    const browser = browserOf(gateway);
    await browser.open(path);
    await browser.submit(path, { action: 'cancel' });
    const entries = (await auditEntries(db)).slice(before.length);
    expect(entries).toMatchObject(
      ['view_patient_page', 'cancel_on_patient_page', 'view_patient_page'].map((operation) => ({
        actor_kind: 'patient_page',
        client_id: 'everything',
        operation,
        emr: 'sandbox-se',
        outcome: 'success',
        record_ids: [appointment.id],
      })),
    );
    for (const entry of entries) {
      expect(ofPatient(entry)).toEqual(patientHashes(gateway, 'sandbox-se', appointment.patient_id));
    }
  });

  test('for the release of an expired hold', async () => {
    const appointment = await book(gateway, { careUnit: sodermalm });
    await expireCode(gateway, appointment);
    await eventually(async () => {
      await runBackgroundJobs(gateway);
      const found = (await auditEntries(db)).filter(({ actor_kind }) => actor_kind === 'background');
      expect(found).toMatchObject([
        { client_id: 'background', operation: 'expiry', outcome: 'success', record_ids: [appointment.id] },
      ]);
      expect(found.map(ofPatient)).toEqual([patientHashes(gateway, 'sandbox-se', appointment.patient_id)]);
    });
  });
});

describe('while entries cannot be stored', () => {
  async function withoutTrail<Result>(work: () => Promise<Result>): Promise<Result> {
    await sql`ALTER TABLE audit_drafts RENAME TO audit_drafts_elsewhere`.execute(db);
    try {
      return await work();
    } finally {
      await sql`ALTER TABLE audit_drafts_elsewhere RENAME TO audit_drafts`.execute(db);
    }
  }

  test('a read gets no data, and the chain continues afterwards', async () => {
    const paths = [`${oslo}/patients/p-1`, `${oslo}/appointments?patient_id=p-1`];
    for (const path of paths) {
      const { status, body, text, headers } = await withoutTrail(() => gateway.request<Problem>('GET', path));
      expect({ status, reason: body.reason }).toEqual({ status: 503, reason: 'database_unavailable' });
      expect(headers['retry-after']).toBeDefined();
      expect(text).not.toMatch(/p-1|1585/);
    }
    expect((await audited('GET', paths[0] ?? '')).entry.outcome).toBe('success');
    await gateway.deps.services.audit.linkAccesses();
    const verdicts: AuditVerdict[] = [];
    for await (const it of verifyChains(db, await readAuditKeys(db, gateway.deps.services.keys))) verdicts.push(it);
    expect(verdicts).toMatchObject([{ fault: null }]);
  });

  test('a rejection is not sent', async () => {
    const { status, body } = await withoutTrail(() => gateway.request<Problem>('GET', `${oslo}/patients/nobody`));
    expect([status, body.reason]).toEqual([503, 'database_unavailable']);
  });

  test('a write is made and its outcome is unknown; a retry with the key finds it, and its entry names the same operation', async () => {
    const slot = await freeSlot(gateway);
    const body = creationBody(slot);
    const headers = { 'idempotency-key': newKey() };
    const send = () => gateway.request<Problem>('POST', `${oslo}/appointments`, { body, headers });
    expect(await withoutTrail(send)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    // On a slow machine the lease is released after the response, or background recovery finds the outcome first.
    const { response, entry } = await eventually(async () => {
      const retry = await audited('POST', `${oslo}/appointments`, { body, headers });
      expect(retry.response.status).toBe(201);
      return retry;
    });
    // Recovery leaves the entry of the write if it was first. Then the retry is a replay.
    expect(entry.outcome).toBeOneOf(['success', 'replayed']);
    expect(entry.record_ids).toEqual([response.body.id]);
    const ofBooking = (await auditEntries(db)).filter(({ record_ids }) => record_ids.includes(response.body.id));
    expect(ofBooking.filter(({ outcome }) => outcome === 'success')).toHaveLength(1);
    const listed = await gateway.request<{ appointments: Appointment[] }>(
      'GET',
      `${oslo}/appointments?resource_id=${slot.resource_id}&${around(slot)}`,
    );
    expect(idsIn(listed.body.appointments)).toEqual([response.body.id]);
  });
});

test('entries can be neither changed nor removed', async () => {
  for (const change of [
    sql`UPDATE audit_entries SET outcome = 'success'`,
    sql`DELETE FROM audit_entries`,
    sql`TRUNCATE audit_entries`,
  ]) {
    await expect(change.execute(db)).rejects.toThrow('append-only');
  }
});
