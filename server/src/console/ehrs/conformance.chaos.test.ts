import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../../test/requests/console.ts';
import { claimRun, keepRun, readRun } from '../../ehr/conformance-runs.ts';
import { listActivity } from '../audit/activity.ts';

const gateway = await startGateway({ configure: withConsole, logLevel: 'debug' });
afterAll(() => gateway.close());
const { db } = gateway.deps.services;
const { browser } = await browserWith(gateway, 'ada', 'admin');
const path = '/console/connections/sandbox-no/conformance';
const careUnit = { care_unit: 'oslo-sentrum' };

async function untilOver(): Promise<string> {
  let text = '';
  await eventually(async () => {
    text = (await browser.open(path)).text;
    expect(text).toMatch(/Run (complete|ended early), /);
  });
  return text;
}

test('without a patient, the kit runs in the background, writes nothing, and the report has its result', async () => {
  const before = await appointments();
  await browser.open(path);
  const begun = await browser.submit(path, careUnit);
  expect(begun.path).toBe(`${path}?result=started`);
  const over = await untilOver();
  expect(over).toMatch(/Run complete, .* Scope reading only: nothing was written/);
  expect(await appointments()).toBe(before);
  const run = await readRun(db, 'sandbox-no');
  const outcomes = new Set(run?.results.map(({ outcome }) => outcome));
  expect([...outcomes].toSorted()).toEqual(['not_checked', 'not_claimed', 'passed']);
  const report = await browser.submit('/console/connections/sandbox-no/report');
  expect(report.text).toMatch(/Conformance kit Run complete, /);
  const [{ action, target, outcome } = {}] = (await listActivity(db, 9))
    .filter((it) => it.action !== 'sign_in')
    .slice(-1);
  expect([action, target, outcome]).toEqual(['emr_conformance', 'sandbox-no', 'done']);
});

test('with a patient for tests, it books and cancels, and the patient is kept nowhere', async () => {
  await browser.open(path);
  const unsure = await browser.submit(path, { ...careUnit, patient: 'emr_id:p-3' });
  expect([unsure.status, unsure.text]).toEqual([400, expect.stringContaining('Tick that the patient is for tests.')]);
  const mistyped = await browser.submit(path, { ...careUnit, patient: 'passport:1', sure: 'on' });
  expect([mistyped.status, mistyped.text]).toEqual([400, expect.stringMatching(/Nothing was run\..*Patient: /)]);
  const before = await appointments();
  await browser.submit(path, { ...careUnit, patient: 'emr_id:p-3', sure: 'on' });
  const over = await untilOver();
  expect(over).toMatch(/Run complete, .* Scope reading and writing/);
  expect(await appointments()).toBeGreaterThan(before);
  const { rows } = await sql<{ text: string }>`SELECT conformance_runs::text AS text FROM conformance_runs`.execute(db);
  for (const text of [over, ...rows.map((it) => it.text), ...gateway.logLines]) expect(text).not.toMatch(/\bp-3\b/);
  const { rows: standing } = await sql`
    SELECT FROM sandbox.appointments WHERE patient_id = 'p-3' AND state <> 'cancelled'`.execute(db);
  expect(standing).toEqual([]);
});

test('one run at a time: another gateway is silent for a minute before its run counts as interrupted', async () => {
  const run = {
    emr: 'sandbox-no',
    run: 'b5b1c1a2-6f0e-4a58-9c0e-0f6e0d3f5a11',
    careUnitId: 'oslo-sentrum',
    books: true,
  };
  expect(await db.transaction().execute((tx) => claimRun(tx, run))).toBe(true);
  const result = { capability: 'patients', check: 'one', outcome: 'failed', milliseconds: 1 } as const;
  const reasons = [
    'Name: expected "Ada", got "Bo"',
    'The connector threw Error: Ada',
    'The connector threw ConnectorError rejected: Ada',
    'Changed appointments are missing: Ada, Bo',
    'It is not found',
  ];
  expect(await keepRun(db, run.run, { results: reasons.map((reason) => ({ ...result, reason })) })).toBe(true);
  await browser.open(path);
  const refused = await browser.submit(path, careUnit);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('A run is under way at this EHR.')]);
  const going = await browser.open(path);
  expect(going.text).toMatch(/5 of \d+ checks .* Run running, /);
  for (const words of [
    'one Name ',
    'one The connector threw ',
    'one The connector threw ConnectorError rejected ',
    'one Changed appointments are missing ',
    'one It is not found',
  ])
    expect(going.text).toContain(words);
  expect(going.text).not.toMatch(/Ada|Bo/);

  await sql`UPDATE conformance_runs SET heard_at = now() - interval '61 seconds'`.execute(db);
  const report = await browser.submit('/console/connections/sandbox-no/report');
  expect(report.text).toMatch(/Run interrupted, .* during the check “.*Appointments of the patient .* may stand/);
  await browser.open(path);
  await browser.submit(path, careUnit);
  expect(await keepRun(db, run.run, { results: [] })).toBe(false);
  expect(await untilOver()).toContain('Run complete');
});

test('only an admin runs the kit', async () => {
  const { browser: operator } = await browserWith(gateway, 'olav', 'operate');
  expect((await operator.open(path)).status).toBe(403);
  expect((await operator.open('/console/connections/sandbox-no')).html).not.toContain('conformance');
});

async function appointments(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM sandbox.appointments`.execute(db);
  return rows[0]?.count ?? 0;
}
