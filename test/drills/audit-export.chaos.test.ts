import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readExportState } from '../../server/src/audit/export/export-state.ts';
import { createDb } from '../../server/src/db/kysely.ts';
import { createTestDatabase } from '../database/database.ts';
import { type ChildGateway, startChild } from '../processes/child-gateway.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';
import { verifyAudit } from '../requests/audit.ts';
import { oslo } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';

/** Each of the two gateways is killed once, so one of them while it holds the lease. */
const kills = 2;

test('the file has every entry of the trail, in order, after kills of the gateways that write it', async () => {
  const folder = await mkdtemp(join(inject('runFolder'), 'audit-export-'));
  const file = join(folder, 'audit.ndjson');
  const { database, url: databaseUrl, dispose } = await createTestDatabase('postgresql');
  const db = createDb(database);
  const setup = await writeQuickDemo(folder, { audit: { export: { file } } });
  const start = () => startChild({ dataDir: join(folder, 'data'), databaseUrl, setup });
  const gateways = await Promise.all([start(), start()]);
  onTestFinished(async () => {
    for (const gateway of gateways) await gateway.kill();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const linesIn = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const readRecords = (gateway: ChildGateway) =>
    Promise.all(
      Array.from({ length: 40 }, () =>
        gateway.send({ method: 'GET', path: `${oslo}/patients/p-1` }).catch(() => undefined),
      ),
    );

  for (let kill = 0; kill < kills; kill++) {
    const before = (await linesIn()).length;
    const reading = gateways.map(readRecords);
    // One of them is writing the file.
    await eventually(async () => expect((await linesIn()).length).toBeGreaterThan(before));
    const index = kill % gateways.length;
    await gateways[index]?.kill();
    await Promise.all(reading);
    await db
      .updateTable('audit_export')
      .set({ leased_until: new Date(0) })
      .execute();
    gateways[index] = await start();
  }
  await eventually(async () => {
    const { exported, last } = await readExportState(db);
    const { count } = await db
      .selectFrom('audit_drafts')
      .select((it) => it.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect([exported, Number(count)]).toEqual([last, 0]);
  });

  // A reader that drops what it has seen gets every entry, in order. Half a line of a killed process is no JSON.
  const seen: { export_position: number; chain_id: string; position: number }[] = [];
  for (const line of await linesIn()) {
    const entry = parsed(line);
    if (entry && entry.export_position > (seen.at(-1)?.export_position ?? 0)) seen.push(entry);
  }
  const stored = await db
    .selectFrom('audit_entries')
    .select(['export_position', 'chain_id', 'position'])
    .orderBy('export_position')
    .execute();
  expect(stored.length).toBeGreaterThan(40 * kills);
  expect(seen.map(({ export_position, chain_id, position }) => ({ export_position, chain_id, position }))).toEqual(
    stored,
  );
  expect(stored.map(({ export_position }) => export_position)).toEqual(stored.map((_, index) => index + 1));
  for (const { fault } of await verifyAudit(database, setup)) expect(fault).toBeNull();
});

function parsed(line: string) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
