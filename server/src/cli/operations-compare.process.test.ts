import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { bookingOf, changeOf, childClient } from '../../../test/processes/child-client.ts';
import { type ChildGateway, startChild } from '../../../test/processes/child-gateway.ts';
import { freePort } from '../../../test/processes/free-port.ts';
import { writeQuickDemo } from '../../../test/processes/quick-demo.ts';
import { type Appointment, creationBody, type Slot, sodermalm } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { crossward } from './test-support.ts';

afterEach(() => void vi.unstubAllEnvs());

const careUnit = { id: 'one', name: 'One', time_zone: 'Europe/Stockholm', language: 'sv' };
/** Lists appointments of one patient at a time. It is not called before a booking is known there. */
const byPatient = {
  id: 'by-patient',
  name: 'By patient',
  connector: 'rivta-scheduling',
  settings: { url: 'https://producer.example/{operation}', actor: { type: 'patient' } },
  care_units: [
    {
      ...careUnit,
      settings: {
        healthcare_facility: 'SE2321000000-1',
        resources: [{ id: 'SE2321000000-P1', name: 'P' }],
        healthcare_services: [{ id: 'visit', name: 'Visit' }],
      },
    },
  ],
};
const unreachable = (port: number) => ({
  id: 'unreachable',
  name: 'Unreachable',
  connector: 'fhir-r4',
  settings: { base_url: `http://127.0.0.1:${port}` },
  care_units: [careUnit],
});

const restored = [
  'confirmations',
  'confirmation_items',
  'operations',
  'events',
  'event_positions',
  'moved_appointments',
  'ehr_changes',
  'ehr_change_feeds',
];

interface CareUnitInJson {
  readonly care_unit_id: string;
  readonly differences: readonly { readonly kind: string; readonly appointment_id: string }[];
  readonly not_compared: readonly string[];
}

test('after a restored backup, the command names what the EHRs have and the gateway does not know, and the reverse', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-compare-'));
  const { url = '', database, dispose } = await createTestDatabase('postgresql');
  const port = await freePort();
  const setup = await writeQuickDemo(folder, {}, () => [byPatient, unreachable(port)]);
  let gateway: ChildGateway | undefined;
  const start = async () => {
    gateway = await startChild({ dataDir: join(folder, 'data'), databaseUrl: url, setup });
  };
  const stop = async () => gateway?.kill();
  onTestFinished(async () => {
    await stop();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const query = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const client = await database.pool.connect();
    try {
      return (await client.query<Row>(sql, values)).rows as Row[];
    } finally {
      client.release();
    }
  };
  const { send, freeSlots } = childClient(() => gateway ?? expect.unreachable());
  /** Waits until the gateway has read and told every change that was made before. */
  const settled = async () => {
    const [{ now } = { now: '' }] = await query<{ now: string }>('SELECT clock_timestamp()::text AS now');
    await eventually(async () => {
      const read = `SELECT 1 FROM ehr_change_feeds WHERE caught_up_at > $1 AND emr IN ('sandbox-no', 'sandbox-se')
        AND NOT EXISTS (SELECT FROM ehr_changes)`;
      expect(await query(read, [now])).toHaveLength(2);
    });
  };
  await start();
  await settled();
  const slots = await freeSlots(6);
  const book = async (index: number) =>
    (await send<Appointment>(bookingOf(slots[index] ?? expect.unreachable(), `key ${index}`))).body;
  const same = await book(0);
  const toCancel = await book(1);
  const toMove = await book(2);
  const held = await bookByCode(send);
  await settled();
  await stop();
  const [{ since } = { since: new Date() }] = await query<{ since: Date }>('SELECT clock_timestamp() AS since');
  await query('CREATE SCHEMA backup');
  for (const table of restored) await query(`CREATE TABLE backup.${table} AS TABLE public.${table}`);

  await start();
  const later = await book(3);
  const cancelled = await book(4);
  await send(changeOf(cancelled.id, 'cancel the new one', { status: 'cancelled' }));
  await send(changeOf(toCancel.id, 'cancel', { status: 'cancelled' }));
  const moved = slots[5] ?? expect.unreachable();
  await send(changeOf(toMove.id, 'move', { start: moved.start, end: moved.end }));
  const confirm = {
    method: 'PATCH',
    path: `${sodermalm}/appointments/${held.id}`,
    body: { confirmation: held.confirmation },
  };
  await send(confirm);
  await stop();
  await restore(query);

  vi.stubEnv('DATABASE_URL', url);
  for (const [name, value] of Object.entries(setup.variables)) vi.stubEnv(name, value);
  const compare = async () => {
    const { code, stdout } = await crossward(`operations compare --since ${since.toISOString()} --json`);
    const found: { emr: string; care_units: CareUnitInJson[] }[] = JSON.parse(stdout);
    expect(stdout).not.toMatch(/p-3|"patient/);
    const rows = found.flatMap(({ emr, care_units }) =>
      care_units.map(({ care_unit_id, ...rest }) => [`${emr}/${care_unit_id}`, rest] as const),
    );
    return { code, byCareUnit: Object.fromEntries(rows) };
  };
  const expected = {
    'sandbox-no/oslo-sentrum': {
      differences: expect.arrayContaining([
        {
          kind: 'unknown',
          appointment_id: later.id,
          in_ehr: { state: 'booked', ...placeOf(later) },
          known: null,
        },
        {
          kind: 'cancelled',
          appointment_id: toCancel.id,
          in_ehr: { state: 'cancelled', ...placeOf(toCancel) },
          known: { status: 'booked', ...placeOf(toCancel) },
        },
        {
          kind: 'changed',
          appointment_id: toMove.id,
          in_ehr: { state: 'booked', ...placeOf(moved) },
          known: { status: 'booked', ...placeOf(toMove) },
        },
      ]),
      not_compared: [],
    },
    'sandbox-se/sodermalm': {
      differences: [expect.objectContaining({ kind: 'changed', appointment_id: held.id })],
      not_compared: [],
    },
    'by-patient/one': {
      differences: [],
      not_compared: ['appointments that the gateway does not know: the EHR lists no changes'],
    },
    'unreachable/one': { differences: [], not_compared: [expect.stringContaining('127.0.0.1')] },
  };
  const first = await compare();
  expect(first.byCareUnit).toMatchObject(expected);
  expect(first.byCareUnit['sandbox-no/oslo-sentrum']?.differences).toHaveLength(3);
  expect(first.code).toBe(1);
  const { stdout } = await crossward(`operations compare --since ${since.toISOString()}`);
  expect(stdout).toContain(`${later.id}  not known: booked by the gateway after the backup, or by staff`);
  expect(stdout).not.toContain(same.id);

  // A gateway that runs again tells the changes as those of others. They still differ from what was known at the backup.
  await start();
  await settled();
  await stop();
  expect((await compare()).byCareUnit).toMatchObject(expected);
  const other = await writeQuickDemo(await mkdtemp(join(folder, 'other-')));
  const after = new Date().toISOString();
  const config = other.variables.CROSSWARD_CONFIG;
  expect(await crossward(`operations compare --since ${after} --config ${config}`)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('sandbox-no/oslo-sentrum  no difference\n'),
  });
  expect(await crossward('operations compare --since yesterday')).toMatchObject({ code: 2 });
});

function placeOf({ start, end, resource_id }: Appointment | Slot) {
  return {
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    resource_id: resource_id.replace('emr_id:', ''),
  };
}

async function restore(query: (sql: string) => Promise<unknown>): Promise<void> {
  await query(`TRUNCATE ${restored.join(', ')} CASCADE`);
  for (const table of restored)
    await query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM backup.${table}`);
}

/** Holds a time, and returns the code that books it. */
async function bookByCode(send: ReturnType<typeof childClient>['send']) {
  const [from, to] = [7, 35].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const filter = new URLSearchParams({ start: from ?? '', end: to ?? '', healthcare_service_id: 'consultation' });
  const path = `${sodermalm}/timeslots?${filter}&resource_id=r-1&limit=1`;
  const [slot] = (await send<{ timeslots: Slot[] }>({ method: 'GET', path })).body.timeslots;
  const body = creationBody(slot ?? expect.unreachable());
  const { id } = (await send<Appointment>({ method: 'POST', path: `${sodermalm}/appointments`, body })).body;
  const code = await eventually(async () => {
    const { messages } = (
      await send<{ messages: { appointment_id: string; text: string }[] }>({
        method: 'GET',
        path: '/demo/messages',
        headers: { accept: 'application/json' },
      })
    ).body;
    const text = messages.find(({ appointment_id }) => appointment_id === id)?.text ?? '';
    return /\b\d{6}\b/.exec(text)?.[0] ?? expect.unreachable();
  });
  return { id, confirmation: { code } };
}
