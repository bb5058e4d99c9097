/** @module-tag any-database */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { fullScans } from '../../../test/database/large-tables.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { readUnlinkedDrafts } from '../audit/drafts.ts';
import { countOverdueDrafts } from '../audit/overdue-drafts.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { readDueWork } from './due-work.ts';
import { leaseDue, makeDueAfterOutage, resumeConfigured } from './due-writes.ts';
import { readGauges } from './read-gauges.ts';

/*
 * A prepared statement keeps its plan, so one that is made for an empty table must serve a large one, until the first ANALYZE.
 */

let it: TestDatabase;
beforeAll(async () => {
  it = await createTestDatabase('postgresql');
});
afterAll(() => it.dispose());

const emr = 'sandbox-no';
const selection = { keyId: randomUUID(), writerId: randomUUID(), except: [], after: 0, limit: 100 };

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['the gauges of operations', (db) => readGauges(db, [emr])],
  ['what is due', (db) => readDueWork(db, [emr])],
  [
    'operations to recover',
    (db) => leaseDue(db, { emr, careUnits: ['oslo-sentrum'], token: randomUUID(), leaseSeconds: 30, limit: 10 }),
  ],
  ['operations that an outage has stopped', (db) => makeDueAfterOutage(db, emr)],
  ['suspended operations of EHRs that are back', (db) => resumeConfigured(db, [emr])],
  ['audit drafts that are not linked', (db) => readUnlinkedDrafts(db, selection)],
  ['audit drafts that are late', (db) => countOverdueDrafts(db)],
])('%s are found by an index from the beginning', async (_, read) => {
  const [statement, ...more] = await observeStatements(it.database.pool, () => read(createDb(it.database)));
  expect(more).toEqual([]);
  const tables = ['operations', 'confirmations', 'confirmation_items', 'audit_drafts'];
  expect(statement).toBeDefined();
  if (statement) expect(await fullScans(it.database, statement, { isGeneric: true, tables })).toEqual([]);
});
