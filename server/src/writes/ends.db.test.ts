/** @module-tag any-database */
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { LeaseLost } from '../db/write-lease.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import { WriteEnded } from '../problems/write-errors.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { endMade, endUnmade, leaveOpen, type Unmade } from './end.ts';
import {
  type EhrState,
  type EndEvent,
  ehrStates,
  events,
  type KeyState,
  keyStates,
  type Row,
  rowAfter,
} from './end-table.ts';
import { createWriteMetrics } from './metrics.ts';
import type { Leased } from './stored-write.ts';
import { openOutcome, sealOutcome } from './stored-write.ts';
import { type LeasedWork, leasedWork } from './work.ts';
import type { AnyKind, WriteServices } from './write-kind.ts';

/* Every combination of what has happened, what the EHR may still do, and what a retry finds: the row becomes what the table says. */

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

const keys = createKeyRing([randomBytes(32)]);
const services = () => {
  const writeMetrics = createWriteMetrics(new Registry(), pino({ level: 'silent' }));
  return { db, keys, writeMetrics } as unknown as WriteServices;
};

const soFar = { is: 'the response so far' };

/** What became of a write's records in the gateway. */
type Records = 'stored' | 'cleaned up';

const kindOf = (hasRecords: boolean, note: (records: Records) => void) =>
  ({
    name: 'test',
    patientsOf: () => [],
    hasRecords: () => hasRecords,
    respond: () => ({ body: { is: 'made' } }),
    async record() {
      note('stored');
      return { body: { is: 'made' } };
    },
    cleanUp: async () => note('cleaned up'),
  }) as unknown as AnyKind;

/** A write in this state, in the database and in this process. */
async function begun(ehrState: EhrState, keyState: KeyState, kind: AnyKind, hasCaller: boolean): Promise<LeasedWork> {
  const leased: Leased = {
    id: randomUUID(),
    clientId: 'app',
    emr: 'ehr',
    careUnitId: 'ward',
    token: randomUUID(),
    keyHash: keyState === 'no key' ? null : randomBytes(32),
    attempt: 3,
    hasResponse: keyState === 'response',
    requestId: 'request',
  };
  const response = keyState === 'response' ? sealOutcome(keys, leased, { body: soFar }) : null;
  await sql`
    INSERT INTO operations (id, client_id, emr, care_unit_id, lease_token, lease_expires_at, next_attempt_at,
      idempotency_key_hash, request_hash, attempt, kind, state, sealed_plan, sealed_response, first_sent_at, last_sent_at,
      patient_hashes, expires_at)
    VALUES (${leased.id}, 'app', 'ehr', 'ward', ${leased.token}, now() + interval '1 hour', now() + interval '1 hour',
      ${leased.keyHash}, ${leased.keyHash}, 3, 'test', ${keyState === 'response' ? 'done' : 'pending'}, 'plan', ${response},
      now(), now(), ARRAY['patient'::bytea], now() + interval '10 minutes')`.execute(db);
  const ehr = {
    id: 'ehr',
    isOpen: true,
    capabilities: { repeatsLateWrites: true },
    times: { callSeconds: 60, settlingSeconds: 600, giveUpSeconds: 600 },
    offers: () => false,
  } as unknown as EhrConnection;
  const careUnit = { id: 'ward' } as CareUnitConnection;
  const isFirst = ehrState === 'done';
  const begun = { ehr, careUnit, kind, plan: {}, expiresAt: null, leasedAt: 0, isFirst, hasCaller };
  const work = leasedWork(services(), leased, begun);
  if (ehrState === 'undone') await work.compensating();
  return work;
}

interface Seen {
  readonly row: string;
  readonly attempt: number;
  /** What a retry gets: the body, or the reason. */
  readonly response: unknown;
}

/** The row, in the words of the table. */
async function seen({ leased }: LeasedWork): Promise<Seen> {
  const { rows } = await sql<{ row: string; attempt: number; sealed: Buffer | null }>`
    SELECT attempt, sealed_response AS sealed, concat_ws(', ', state,
      CASE WHEN sealed_plan IS NOT NULL THEN 'plan' END,
      CASE WHEN kind IS NULL AND first_sent_at IS NULL AND expires_at IS NULL THEN 'key alone' END,
      CASE WHEN patient_hashes <> '{}' THEN 'makes a code' END,
      CASE WHEN lease_token IS NOT NULL THEN 'leased' END,
      CASE WHEN had_effect THEN 'had effect' END,
      CASE WHEN reported_unknown THEN 'told as unknown' END,
      CASE WHEN next_attempt_at <= now() THEN 'due now'
        WHEN next_attempt_at = lease_expires_at THEN 'due with its lease'
        WHEN next_attempt_at IS NOT NULL THEN 'due when settled' END) AS row
    FROM operations WHERE id = ${leased.id}`.execute(db);
  const [{ row, attempt, sealed } = { row: 'no row', attempt: leased.attempt, sealed: null }] = rows;
  const outcome = sealed && openOutcome(keys, leased, sealed);
  return { row, attempt, response: outcome instanceof Problem ? outcome.reason : (outcome?.body ?? null) };
}

const inWords: Record<Row, string> = {
  answered: 'done',
  monitored: 'done, plan, due when settled',
  'monitored under its lease': 'done, plan, leased, due with its lease',
  free: 'pending, key alone',
  'free under its lease': 'pending, key alone, leased',
  gone: 'no row',
  open: 'pending, plan, makes a code, told as unknown, due now',
};

function expected({ event, response }: Way, ehr: EhrState, key: KeyState): Seen {
  const row = rowAfter(event, ehr, key);
  const kept = key === 'response' ? soFar : null;
  const isKept = row !== 'gone' && key !== 'no key';
  const stateBefore = ehr === 'undone' ? 'compensating' : key === 'response' ? 'done' : 'pending';
  return {
    row: inWords[row]
      .replace('due when', event === 'made' ? 'had effect, due when' : 'due when')
      .replace(/^pending, plan/, `${stateBefore}, plan`),
    attempt: ehr === 'undone' && row.startsWith('free') ? 4 : 3,
    response: isKept ? (response ?? kept) : null,
  };
}

interface Way {
  readonly event: EndEvent;
  readonly how: 'made' | Unmade | 'unknown';
  readonly problem?: Problem;
  readonly hasCaller?: boolean;
  readonly hasRecords?: boolean;
  /** That is stored. */
  readonly response?: unknown;
}

const refusal = new Problem('patient_not_found');
const ways: readonly Way[] = [
  { event: 'made', how: 'made', hasRecords: true, response: { is: 'made' } },
  { event: 'made', how: 'made', hasRecords: false, response: { is: 'made' } },
  { event: 'made', how: 'made', hasCaller: false, response: { is: 'made' } },
  { event: 'refused', how: 'not made', problem: refusal, response: 'patient_not_found' },
  { event: 'refused for now', how: 'not made', problem: new Problem('patient_limit_reached') },
  { event: 'refused for now', how: 'not made', problem: new Problem('rate_limited'), hasCaller: false },
  { event: 'not made', how: 'not made' },
  { event: 'not made', how: 'not made', hasCaller: false },
  { event: 'not made', how: 'not made', problem: refusal, hasCaller: false },
  { event: 'not made', how: 'not made', problem: new Problem('ehr_unavailable') },
  { event: 'not made', how: 'not made', problem: new Problem('idempotency_in_progress') },
  { event: 'starts over', how: 'starts over' },
  {
    event: 'given up',
    how: 'given up',
    problem: new Problem('outcome_unknown'),
    hasCaller: false,
    response: 'outcome_unknown',
  },
  { event: 'unknown', how: 'unknown' },
];

async function end(work: LeasedWork, { how, problem }: Way): Promise<unknown> {
  if (how === 'unknown') return leaveOpen(work, new Error('bug'));
  return how === 'made' ? endMade(work, {}) : endUnmade(work, how, problem);
}

test('there is a way to each event', () => {
  expect(new Set(ways.map(({ event }) => event))).toEqual(new Set(events));
});

const combinations = ways.flatMap((way) =>
  ehrStates.flatMap((ehr) => keyStates.map((key) => ({ ...way, name: `${way.event}, ${ehr}, ${key}`, ehr, key }))),
);

test.each(combinations)('$name', async ({ ehr, key, hasCaller = true, hasRecords = true, ...way }) => {
  const done: Records[] = [];
  const work = await begun(
    ehr,
    key,
    kindOf(hasRecords, (it) => done.push(it)),
    hasCaller,
  );
  if (way.how === 'unknown') await expect(end(work, way)).rejects.toBeInstanceOf(WriteEnded);
  else await end(work, way);
  expect(await seen(work)).toEqual(expected(way, ehr, key));
  const isRecorded = way.event === 'made' ? hasRecords : way.event !== 'unknown';
  expect(done).toEqual(isRecorded ? [way.event === 'made' ? 'stored' : 'cleaned up'] : []);
});

test.each(combinations.filter(({ how }) => how !== 'unknown'))('a lost lease: $name', async ({ ehr, key, ...way }) => {
  const work = await begun(
    ehr,
    key,
    kindOf(true, () => undefined),
    true,
  );
  const before = await seen(work);
  const lost = { ...work, leased: { ...work.leased, token: randomUUID() } };
  await expect(end(lost, way)).rejects.toBeInstanceOf(LeaseLost);
  expect(await seen(work)).toEqual(before);
});
