import { readFile } from 'node:fs/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type FakeServer, startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { consecutiveSlots, creationBody, type Slot } from '../requests/bookings.ts';
import { careUnitOf } from '../requests/codes.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const readme = new URL('../../connectors/fhir-r4/README.md', import.meta.url);
const data = { days: 42 };
const servers: Readonly<Record<string, FakeServer>> = {
  transaction: await startFake({ data, cachesSearches: true }),
  slot_claim: await startFake({ data, cachesSearches: true, transactions: 'none' }),
};
const gateway = await startGateway({
  configure: (demo) =>
    withEhrs(
      demo,
      Object.entries(servers).map(([mode, server]) => fhirEhr(mode, server)),
    ),
});
afterAll(async () => {
  await gateway.close();
  for (const server of Object.values(servers)) await server.close();
});

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** How many requests the EHR gets for each request to the gateway. */
async function requestsIn(mode: string): Promise<ReadonlyMap<string, number>> {
  const { seen } = servers[mode] as FakeServer;
  const path = careUnitPath(mode, 'north');
  const { create, change, cancel } = careUnitOf(gateway, path);
  const from = new Date(Date.now() + 3 * dayMilliseconds);
  const [slot, to] = (await consecutiveSlots(gateway, 2, { careUnit: path, from })) as [Slot, Slot];
  const counts = new Map<string, number>();
  async function count<AppointmentResponse extends { readonly status: number }>(
    name: string,
    status: number,
    ask: () => Promise<AppointmentResponse>,
  ) {
    seen.splice(0);
    const told = await ask();
    expect([name, told.status]).toEqual([name, status]);
    counts.set(name, seen.length);
    return told;
  }
  const { body } = await count('book', 201, () => create(creationBody(slot)));
  // A look-up that finds nothing reads the directory again if it is older than two seconds, as the next booking would.
  expect((await gateway.request('GET', `${path}/resources/emr_id:nobody`)).status).toBe(404);
  await count('book a time that is taken', 400, () => create(creationBody(slot)));
  await count('move', 200, () => change(body.id, { start: to.start, end: to.end }));
  await count('cancel', 200, () => cancel(body.id));
  const range = new URLSearchParams({
    start: new Date(Date.now() + dayMilliseconds).toISOString(),
    end: new Date(Date.now() + 31 * dayMilliseconds).toISOString(),
    resource_id: 'r-1',
    limit: '500',
  });
  await count('list the free times of one resource for 30 days', 200, () =>
    gateway.request('GET', `${path}/timeslots?${range}`),
  );
  return counts;
}

test.each(Object.keys(servers))(
  'a booking in mode %s reads the slots and the patient at the same time',
  async (mode) => {
    const server = servers[mode] as FakeServer;
    const path = careUnitPath(mode, 'north');
    const { create, cancel } = careUnitOf(gateway, path);
    const from = new Date(Date.now() + 8 * dayMilliseconds);
    const [slot] = (await consecutiveSlots(gateway, 1, { careUnit: path, from })) as [Slot];
    const { promise: slotsAreRead, resolve: readsSlots } = Promise.withResolvers<void>();
    server.misbehave = ({ path: asked }) => {
      if (asked.startsWith('/Slot')) readsSlots();
      return asked.startsWith('/Patient') ? { heldBackUntil: slotsAreRead } : undefined;
    };
    onTestFinished(() => {
      server.misbehave = () => undefined;
    });
    const { status, body } = await create(creationBody(slot));
    expect(status).toBe(201);
    expect((await cancel(body.id)).status).toBe(200);
  },
);

test('a booking by transaction is one patient look-up, one slot search and one write', async () => {
  const { seen } = servers.transaction as FakeServer;
  const path = careUnitPath('transaction', 'north');
  const { create, cancel } = careUnitOf(gateway, path);
  const from = new Date(Date.now() + 10 * dayMilliseconds);
  const [slot] = (await consecutiveSlots(gateway, 1, { careUnit: path, from })) as [Slot];
  seen.splice(0);
  const { status, body } = await create(creationBody(slot));
  expect(status).toBe(201);
  expect(seen.map((it) => `${it.method} ${it.path}`).sort()).toEqual(['GET /Patient/p-3', 'GET /Slot', 'POST /']);
  expect((await cancel(body.id)).status).toBe(200);
});

test('the connector sends as few requests as its README says', async () => {
  const modes = await Promise.all(Object.keys(servers).map(async (mode) => ({ mode, counts: await requestsIn(mode) })));
  const rows = [...(modes[0]?.counts.keys() ?? [])].map((name) => [
    name,
    ...modes.map(({ counts }) => counts.get(name)),
  ]);
  const lines = [['request', ...modes.map(({ mode }) => `\`${mode}\``)], ['---', '---', '---'], ...rows];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`);
  const printed = (await readFile(readme, 'utf8')).split('\n');
  const first = printed.findIndex((line) => line.startsWith('| request |'));
  expect(printed.slice(first, first + table.length)).toEqual(table);
});
