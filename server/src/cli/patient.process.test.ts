import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, riverside, sodermalm } from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  expireCode,
  rowsOf,
  runBackgroundJobs,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { readAuditKeys } from '../audit/audit-keys.ts';
import { auditEntries, patientHashes } from '../audit/test-audit.ts';
import { verifyUnlinked } from '../audit/verify.ts';
import { sealPlan } from '../writes/stored-write.ts';
import { crossward } from './test-support.ts';

const gateway = await startGateway({ databaseKind: 'postgresql' });
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;

beforeEach(() => {
  vi.stubEnv('DATABASE_URL', gateway.ground.testDatabase.url);
  vi.stubEnv('CROSSWARD_SECRET_KEY', gateway.ground.secretKeys[0].toString('base64'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

interface Report {
  readonly erased: boolean;
  readonly removed: object;
  readonly kept: Readonly<Record<string, unknown>>;
  readonly not_finished: { readonly confirmations: number; readonly operations: readonly string[] };
}

async function erase(emr: string, patient: string, yes = ''): Promise<Report & { code: number; err: string }> {
  const { code, stdout, stderr } = await crossward(
    `patient erase --emr ${emr} --patient - --json ${yes}`.trim(),
    patient,
  );
  return { ...(JSON.parse(stdout) as Report), code, err: stderr };
}

const countOf = async (table: string) =>
  (await rowsOf<{ n: number }>(gateway, `SELECT count(*)::int AS n FROM ${table}`))[0]?.n;

test('codes and messages of a patient are shown, then erased, and nothing of others', async () => {
  const mine = await bookByCode(gateway, { patientId: 'p-3' });
  await bookByCode(gateway, { patientId: 'p-4' });
  const before = [await countOf('confirmations'), await countOf('messages'), await countOf('demo_mailbox')];
  const shown = await erase('sandbox-se', 'p-3');
  expect(shown).toMatchObject({
    code: 0,
    erased: false,
    removed: { confirmations: 1, messages: 1, drafts: 0, in_events: 2 },
    kept: { ids: 0, stored_responses: 0 },
    not_finished: { confirmations: 0, operations: [] },
  });
  expect(shown.err).toContain('Nothing was changed. Repeat it with --yes');
  expect([await countOf('confirmations'), await countOf('messages'), await countOf('demo_mailbox')]).toEqual(before);

  expect(await erase('sandbox-se', 'p-3', '--yes')).toMatchObject({ code: 0, erased: true, removed: shown.removed });
  expect([await countOf('confirmations'), await countOf('messages'), await countOf('demo_mailbox')]).toEqual(
    before.map((count) => (count ?? 0) - 1),
  );
  // The appointment is the EHR's.
  expect((await careUnitOf(gateway, sodermalm).get(mine.id)).status).toBe('booked');
  const kept = await rowsOf(gateway, 'SELECT FROM events WHERE subject = $1 AND sealed_appointment IS NOT NULL', [
    mine.id,
  ]);
  expect(kept).toEqual([]);
  // It is in the audit trail, and among what operators did, without the patient there.
  const [hash] = patientHashes(gateway, 'sandbox-se', 'emr_id:p-3');
  const entry = (await auditEntries(db)).findLast(({ operation }) => operation === 'erase_patient');
  expect(entry).toMatchObject({ actor_kind: 'background', emr: 'sandbox-se', outcome: 'success' });
  expect(entry?.patient_hashes.map((it) => it.toString('hex'))).toEqual([hash]);
  const activity = await rowsOf(
    gateway,
    'SELECT action, target, outcome FROM operator_activity ORDER BY id DESC LIMIT 1',
  );
  expect(activity).toEqual([{ action: 'patient_erase', target: 'sandbox-se', outcome: 'done' }]);
  expect((await verifyUnlinked(db, await readAuditKeys(db, keys))).falsified).toBe(0);

  const again = await erase('sandbox-se', 'p-3', '--yes');
  expect(again).toMatchObject({ code: 0, erased: true, removed: { confirmations: 0, messages: 0, in_events: 0 } });
});

test('a code that can still be entered is not erased, and a hold that has ended is', async () => {
  const held = await book(gateway, { careUnit: sodermalm, patientId: 'p-5' });
  await codeFor(gateway, held.id);
  const refused = await erase('sandbox-se', 'p-5', '--yes');
  expect(refused).toMatchObject({ code: 1, erased: false, not_finished: { confirmations: 1 } });
  expect(refused.err).toContain('something is not finished');
  const [activity] = await rowsOf<object>(
    gateway,
    'SELECT action, outcome FROM operator_activity ORDER BY id DESC LIMIT 1',
  );
  expect(activity).toEqual({ action: 'patient_erase', outcome: 'not_possible' });
  await expireCode(gateway, held);
  await runBackgroundJobs(gateway);
  expect(await erase('sandbox-se', 'p-5', '--yes')).toMatchObject({ code: 0, removed: { confirmations: 1 } });
});

test('an id that stands for an appointment of the EHR stays valid', async () => {
  const { view } = await startCancellation(gateway);
  const { confirm, get } = careUnitOf(gateway, riverside);
  expect((await confirm(view.id, await codeFor(gateway, view.id))).status).toBe(200);
  const shown = await get(view.id);
  expect(await erase('sandbox-uk', 'p-3', '--yes')).toMatchObject({ code: 0, kept: { ids: 1 } });
  expect(await get(view.id)).toMatchObject({ id: view.id, status: shown.status });
  expect(
    await rowsOf(gateway, 'SELECT FROM confirmations WHERE emr = $1 AND patient_hash IS NOT NULL', ['sandbox-uk']),
  ).toEqual([]);
});

test('an operation that is not finished, and one that cannot be read, stop it', async () => {
  await bookByCode(gateway, { patientId: 'p-6' });
  const planned = async (seal: (id: string) => Buffer) => {
    const id = randomUUID();
    await rowsOf(
      gateway,
      `INSERT INTO operations (id, client_id, emr, care_unit_id, kind, sealed_plan)
       VALUES ($1, 'everything', 'sandbox-se', 'sodermalm', 'appointments', $2)`,
      [id, seal(id)],
    );
    return id;
  };
  const about = (patientId: string) => (id: string) =>
    sealPlan(keys, { clientId: 'everything', id }, { steps: [{ before: { patientId } }] });
  const stopping = [await planned(about('p-6')), await planned(() => Buffer.alloc(1))].sort();
  const ofOther = await planned(about('p-60'));
  const refused = await erase('sandbox-se', 'p-6', '--yes');
  expect(refused).toMatchObject({ code: 1, erased: false });
  expect([...refused.not_finished.operations].sort()).toEqual(stopping);
  await rowsOf(gateway, 'DELETE FROM operations WHERE id = ANY($1) ', [[...stopping, ofOther]]);
  expect(await erase('sandbox-se', 'p-6', '--yes')).toMatchObject({ code: 0, erased: true });
});

test.each([
  ['no_personal_number:15859000026', "by the EHR's own id"],
  ['p-1 p-2', 'one patient'],
  ['', 'one patient'],
])('rejects the patient %s', async (patient, explanation) => {
  const { code, stderr } = await crossward('patient erase --emr sandbox-no --patient - --yes', patient);
  expect([code, stderr]).toEqual([2, expect.stringContaining(explanation)]);
  expect(stderr).not.toContain('15859');
});

test('needs every secret key that stored data needs', async () => {
  vi.stubEnv('CROSSWARD_SECRET_KEY', Buffer.alloc(32, 1).toString('base64'));
  const { code, stderr } = await crossward('patient erase --emr sandbox-no --patient p-1 --yes');
  expect([code, stderr]).toEqual([2, expect.stringContaining('CROSSWARD_PREVIOUS_SECRET_KEYS')]);
});

test('says as text what is erased and what is kept', async () => {
  const { stdout } = await crossward('patient erase --emr sandbox-no --patient p-1');
  expect(stdout).toContain('Would be erased:\n  0 confirmations');
  expect(stdout).toContain('entries of the audit trail, with keyed hashes');
});
