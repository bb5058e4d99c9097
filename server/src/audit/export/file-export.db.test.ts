import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { createDb } from '../../db/kysely.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import { prepareAuditKey } from '../audit-keys.ts';
import { createAuditMetrics } from '../metrics.ts';
import { newTrail, tamper } from '../test-audit.ts';
import { appendLines } from './append-lines.ts';
import { readExportState } from './export-state.ts';
import { createFileExport } from './file-export.ts';

const { database, dispose } = await createTestDatabase('postgresql');
const db = createDb(database);
const key = await prepareAuditKey(db, createKeyRing([randomBytes(32)]));
const trail = newTrail(db, key);
const folder = await mkdtemp(join(tmpdir(), 'audit-export-'));
afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true });
});

const logLines: string[] = [];
const log = pino({}, { write: (line: string) => void logLines.push(line) });
const registry = new Registry();
const metrics = createAuditMetrics(registry, true);
let file: string;
let files = 0;

beforeEach(async () => {
  file = join(folder, `${files++}.ndjson`);
  await sql`UPDATE audit_export SET exported = last, writer_id = NULL, leased_until = now() FROM audit_export_positions`.execute(
    db,
  );
});

type Append = typeof appendLines;
const newExport = (append: Append = appendLines) =>
  createFileExport({ db, settings: { file, format: 'ndjson' }, metrics, log, append });

let recorded = 0;
/** Records and links accesses. Returns their request ids. */
async function record(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `request-${recorded++}`);
  for (const requestId of ids) {
    await trail.record({
      actor: 'client',
      clientId: 'app',
      operation: 'get_patient',
      emr: 'north',
      careUnitId: 'ward',
      patients: ['no_personal_number:15859000026', 'emr_id:p-1'],
      records: [],
      outcome: 'success',
      requestId,
      writeId: undefined,
    });
  }
  await trail.linkAccesses();
  return ids;
}

async function requestIdsIn(path = file): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\n').flatMap((line) => {
    try {
      return JSON.parse(line).request_id;
    } catch {
      return [];
    }
  });
}

test('entries are written in order, once, with the hash of the own id first, for the owner alone', async () => {
  const ids = await record(3);
  const exporter = newExport();
  expect(await exporter.round()).toBe(false);
  expect(await exporter.round()).toBe(false);
  expect(await requestIdsIn()).toEqual(ids);
  const more = await record(2);
  await exporter.close();
  expect(await requestIdsIn()).toEqual([...ids, ...more]);
  const text = await readFile(file, 'utf8');
  expect(text).not.toContain('15859000026');
  const [first] = text.split('\n').map((line) => line && JSON.parse(line));
  expect(first.patient_hashes[0]).toBe(key.hashPatient('north', 'emr_id:p-1').toString('hex'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a batch is followed by the next at once', async () => {
  await record(501);
  await trail.linkAccesses();
  const exporter = newExport();
  expect(await exporter.round()).toBe(true);
  expect(await exporter.round()).toBe(false);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const positions = lines.map((line) => JSON.parse(line).export_position);
  expect(positions).toHaveLength(501);
  expect(positions).toEqual(positions.map((_, index) => positions[0] + index));
});

test('one process writes, another one when its lease has ended, and repeats what was not noted', async () => {
  const ids = await record(2);
  // Killed after the lines were written and before their position was stored.
  const killed = newExport(async (path, lines) => {
    await appendLines(path, lines);
    await sql`UPDATE audit_export SET writer_id = gen_random_uuid()`.execute(db);
  });
  await killed.round();
  const next = newExport();
  await next.round();
  expect(await requestIdsIn()).toEqual(ids);
  await sql`UPDATE audit_export SET leased_until = now()`.execute(db);
  await next.round();
  expect(await requestIdsIn()).toEqual([...ids, ...ids]);
  // The other one goes on, and leaves the file to the one that writes.
  const more = await record(1);
  await killed.round();
  expect(await requestIdsIn()).toEqual([...ids, ...ids]);
  await next.round();
  expect(await requestIdsIn()).toEqual([...ids, ...ids, ...more]);
});

test('the file can be renamed, and half a line of a killed process spoils no other', async () => {
  const ids = await record(1);
  const exporter = newExport();
  await exporter.round();
  await rename(file, `${file}.1`);
  const more = await record(1);
  await exporter.round();
  expect([await requestIdsIn(`${file}.1`), await requestIdsIn()]).toEqual([ids, more]);
  await appendFile(file, '{"export_position":');
  const last = await record(1);
  await exporter.round();
  expect(await requestIdsIn()).toEqual([...more, ...last]);
});

test('a file that cannot be written is counted, logged and noted, and another process writes', async () => {
  const ids = await record(1);
  const target = file;
  file = join(folder, 'no-such-folder', 'audit.ndjson');
  const broken = newExport();
  await broken.round();
  expect(await readExportState(db)).toMatchObject({ failure: 'ENOENT', waiting_since: expect.any(Date) });
  expect(await registry.getSingleMetricAsString('crossward_audit_export_failures_total')).toMatch(/_total 1$/m);
  await metrics.refresh(db);
  expect(await registry.getSingleMetricAsString('crossward_audit_export_lag_seconds')).toMatch(
    /_seconds [0-9.]*[1-9]/m,
  );
  expect(logLines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 40, msg: 'the audit trail cannot be exported', failure: 'ENOENT' }),
  ]);
  file = target;
  await newExport().round();
  expect(await requestIdsIn()).toEqual(ids);
  expect(await readExportState(db)).toMatchObject({ failure: null, waiting_since: null });
  await metrics.refresh(db);
  expect(await registry.getSingleMetricAsString('crossward_audit_export_lag_seconds')).toMatch(/_seconds 0$/m);
});

test('entries that have expired before they were written are passed over', async () => {
  await record(2);
  await tamper(db, (tx) => sql`DELETE FROM audit_entries`.execute(tx));
  await newExport().round();
  const { exported, last } = await readExportState(db);
  expect(exported).toBe(last);
});
