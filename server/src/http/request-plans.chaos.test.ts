import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { fillTables, fullScans } from '../../../test/database/large-tables.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { around, book, freeSlot, oslo } from '../../../test/requests/bookings.ts';
import { bookByCode, careUnitOf, startCancellation } from '../../../test/requests/codes.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import { insertChain } from '../audit/anchors.ts';
import { insertDrafts } from '../audit/drafts.ts';
import { linkRows } from '../audit/store.ts';
import type { Database } from '../db/database.ts';
import { createDb } from '../db/kysely.ts';

/*
 * The statements of requests, on tables that were never analysed, as on the first days of a gateway, and on large ones. A
 * prepared statement keeps its plan, so one that is made for a small table must serve a large one.
 */

const isPlanned = (text: string) => /^\s*(with|select|insert|update|delete)\b/i.test(text);

/** Counts the open operations of a patient. Its index, of arrays, costs more than a scan of ten pages, until the first ANALYZE. */
const countsOfPatient = /FROM operations\s+WHERE state = 'pending' AND patient_hashes/;

describe.each([
  ['that were never analysed', neverAnalyse, [countsOfPatient]],
  ['with sixty thousand rows each', fillTables, []],
])('on tables %s', async (_, prepare, exceptions: readonly RegExp[]) => {
  const gateway = await startGateway();
  afterAll(() => gateway.close());

  test('no statement of a request scans a growing table', async () => {
    await prepare(gateway.database);
    const slot = await freeSlot(gateway);
    const { get, list, change, cancel } = careUnitOf(gateway, oslo);
    const statements = await observeStatements(gateway.database.pool, async () => {
      const { body } = await keysOf(gateway).send(creation(slot), newKey());
      await get(body.id);
      await list(`patient_id=p-1&${around(slot)}`);
      await change(body.id, { comment: 'changed' });
      await cancel(body.id);
      await book(gateway);
      await bookByCode(gateway);
      await startCancellation(gateway);
    });
    const planned = [...new Map(statements.map((it) => [it.text, it])).values()].filter(({ text }) => isPlanned(text));
    const texts = planned.map(({ text }) => text).join('\n');
    for (const table of ['operations', 'confirmations', 'messages', 'events', 'audit_drafts', 'appointments'])
      expect(texts).toContain(table);
    const scanning: string[] = [];
    for (const statement of planned) {
      const scans = await fullScans(gateway.database, statement, { isGeneric: true });
      const isException = exceptions.some((text) => text.test(statement.text));
      if (scans.length > 0 && !isException) scanning.push(`${scans.join(', ')}: ${statement.text}`);
    }
    expect(scanning).toEqual([]);
  });

  test('the function that links audit entries scans none either', async () => {
    const { audit } = gateway.deps.services;
    const db = createDb(gateway.database);
    const chainId = randomUUID();
    const access = { actor: 'client', clientId: 'everything', operation: 'get_patient', emr: 'sandbox-no' } as const;
    const rolledBack = db.transaction().execute(async (tx) => {
      await insertChain(tx, audit.key, { id: chainId, subject: 'accesses' });
      // PostgreSQL chooses a plan for any values at the sixth execution.
      for (let behind = 0; behind < 10; behind++) {
        const draft = audit.draft({
          ...access,
          careUnitId: 'oslo-sentrum',
          patients: ['emr_id:p-1'],
          records: [],
          outcome: 'success',
          requestId: randomUUID(),
          writeId: undefined,
        });
        await insertDrafts(tx, [draft]);
        const { rows } = await sql<{ id: number }>`SELECT max(id) AS id FROM audit_drafts`.execute(tx);
        const ids = rows.map(({ id }) => id);
        expect(await linkRows(tx, { chainId, behind, ids, hashes: [Buffer.alloc(32)] })).toBe(true);
      }
      const { rows } = await sql<{ name: string }>`
        SELECT relname AS name FROM pg_stat_xact_user_tables
        WHERE seq_scan > 0 AND (relname ~ '^audit_entries' OR relname = 'operator_activity')`.execute(tx);
      throw rows;
    });
    await expect(rolledBack).rejects.toEqual([]);
  });
});

/** Without autovacuum, which would analyse them. */
async function neverAnalyse({ pool }: Database): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text IN (current_schema(), 'sandbox')",
    );
    for (const { name } of rows) await client.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
  } finally {
    client.release();
  }
}
