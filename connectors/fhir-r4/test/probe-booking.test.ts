import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { probeServer, settingsFor } from './subject.ts';

type Booking = NonNullable<FhirSettings['booking']>;

async function start(options: FakeOptions) {
  const server = await startFake({ data: { days: 7 }, ...options });
  return server;
}

async function probe(server: FakeServer, booking: Booking = {}) {
  const { findings, recommendedSettings } = await probeServer(settingsFor(server.url, { booking }));
  return { recommendedSettings, finding: (name: string) => findings.find((it) => it.name === name) };
}

/** Rejects every PUT for a reason unrelated to versions. */
const rejectsPut = ({ method }: { readonly method: string }) => (method === 'PUT' ? { status: 422 } : undefined);

describe('another booking mode', () => {
  test.each([
    ['transaction', 'operations', {}, 'transaction'],
    ['transaction', 'slot_claim', {}, 'transaction'],
    ['slot_claim', 'operations', { transactions: 'none' }, 'slot_claim'],
    ['slot_claim', 'transaction', { transactions: 'as_batch' }, 'slot_claim'],
  ] as const)('%s is recommended instead of %s', async (_, configured, options, mode) => {
    const server = await start({ operations: 'ihe', ...options });
    const { recommendedSettings } = await probe(server, { mode: configured });
    expect(recommendedSettings).toEqual({ booking: { mode } });
  });

  test('is not recommended where the server checks appointments itself', async () => {
    const server = await start({ checksAppointments: true });
    expect((await probe(server, { mode: 'create' })).recommendedSettings).toEqual({});
  });

  test.each(['create', 'operations'] as const)(
    'is not recommended instead of %s if no proof succeeded',
    async (mode) => {
      const server = await start({ transactions: 'none', operations: 'ihe', checksAppointments: true });
      server.misbehave = rejectsPut;
      const { recommendedSettings, finding } = await probe(server, { mode });
      expect(finding('If-Match is heeded')?.status).toBe('untried');
      expect(recommendedSettings).toEqual({});
    },
  );
});

describe('a failed proof', () => {
  test('is a warning, and booking is read-only if no mode is left', async () => {
    const { finding } = await probe(await start({ transactions: 'none', heedsIfMatch: false }));
    expect(finding('If-Match is heeded')).toEqual({
      name: 'If-Match is heeded',
      status: 'warning',
      detail: 'Tried: it does not work. The consequence: changes by others would be overwritten.',
    });
    expect(finding('booking')).toMatchObject({ status: 'warning', detail: expect.stringContaining('read-only') });
  });

  test.each([
    ['transaction', { transactions: 'as_batch' }],
    ['slot_claim', { transactions: 'none', heedsIfMatch: false }],
  ] as const)('is a problem if the settings choose %s', async (mode, options) => {
    const { finding } = await probe(await start(options), { mode });
    expect(finding('booking')).toMatchObject({ status: 'problem', detail: expect.stringContaining(mode) });
  });
});

describe('operation ids', () => {
  const name = 'operation ids are kept';

  test.each([{}, { transactions: 'none' }] as const)('are ok if the server keeps them: %o', async (options) => {
    const server = await start(options);
    const { finding, recommendedSettings } = await probe(server);
    expect(finding(name)?.status).toBe('ok');
    expect(recommendedSettings).toEqual({});
    expect(server.store.all('Appointment')).toEqual([]);
  });

  test.each([
    ['transaction', {}],
    ['slot_claim', { transactions: 'none' }],
  ] as const)('that the server drops turn off the look-up in %s', async (_, options) => {
    const server = await start({ dropsIdentifiers: true, ...options });
    const { finding, recommendedSettings } = await probe(server);
    expect(finding(name)?.status).toBe('warning');
    expect(recommendedSettings).toEqual({ booking: { operation_lookup: false } });
    expect(server.store.all('Appointment')).toEqual([]);
    expect((await probe(server, { operation_lookup: false })).recommendedSettings).toEqual({});
  });

  test('that cannot be searched for turn off the look-up', async () => {
    const server = await start({ transactions: 'none' });
    server.misbehave = ({ path, query }) =>
      path === '/Appointment' && query.includes('identifier=') ? { status: 400 } : undefined;
    expect((await probe(server)).recommendedSettings).toEqual({ booking: { operation_lookup: false } });
    expect(server.store.all('Appointment')).toEqual([]);
  });

  test('and the size of transactions are recommended in one result', async () => {
    const server = await start({ dropsIdentifiers: true, transactionSize: 50, data: { days: 14 } });
    const booking = { transaction_size: 50, operation_lookup: false };
    expect((await probe(server)).recommendedSettings).toEqual({ booking });
  });

  test('leave an entered-in-error appointment on a server without delete', async () => {
    const server = await start({});
    server.misbehave = ({ method }) => (method === 'DELETE' ? { status: 405 } : undefined);
    await probe(server);
    expect(server.store.all('Appointment')).toMatchObject([{ status: 'entered-in-error' }]);
  });

  test.each([
    ['are not looked up', { operation_lookup: false }, {}],
    ['are written by an operation', { mode: 'operations', operations: 'ihe' }, { operations: 'ihe' }],
    ['are not looked up in `create`', { mode: 'create' }, { checksAppointments: true }],
    ['belong to a server without create of Appointments', { mode: 'slot_claim' }, { operationsOnly: true }],
  ] as const)('that %s are not tested', async (_, booking, options) => {
    const server = await start(options);
    const { finding } = await probe(server, booking);
    expect(finding(name)).toBeUndefined();
    const created = server.seen.filter(({ method, path }) => method === 'POST' && path === '/Appointment');
    // In `create`, the check tries a booking that must be refused.
    expect(
      created.filter(({ body }) => !('mode' in booking && booking.mode === 'create') || body.includes('identifier')),
    ).toEqual([]);
  });
});

test('the mode `operations` is reported as experimental, and no other', async () => {
  const server = await start({ transactions: 'none', operations: 'ihe' });
  const findingsIn = async (mode: 'operations' | 'slot_claim') =>
    (await probe(server, { mode })).finding('experimental');
  expect(await findingsIn('operations')).toMatchObject({ status: 'warning' });
  expect(await findingsIn('slot_claim')).toBeUndefined();
});

describe('the right to book', () => {
  const name = 'right to book';
  const forbids = ({ method, path }: { readonly method: string; readonly path: string }) =>
    method === 'POST' && path === '/Appointment' ? { status: 403 } : undefined;
  const scheduler: FakeOptions = { transactions: 'none', plainWrites: false, checksAppointments: true };

  test.each<[FakeOptions, Booking]>([
    [scheduler, { mode: 'create' }],
    [scheduler, { mode: 'create', minimal_create: true }],
    [{}, {}],
    [{ transactions: 'none' }, {}],
  ])('is missed before anything is booked: %j, %j', async (options, booking) => {
    const server = await start(options);
    server.misbehave = forbids;
    const { finding } = await probe(server, booking);
    expect(finding(name)).toMatchObject({ status: 'problem', detail: expect.stringContaining('give it the right to') });
    expect(server.store.all('Appointment')).toEqual([]);
  });

  test('is shown by the refusal of a booking of nobody', async () => {
    const server = await start(scheduler);
    const { finding, recommendedSettings } = await probe(server, { mode: 'create' });
    expect(finding(name)).toMatchObject({ status: 'ok' });
    expect(recommendedSettings).toEqual({});
    expect(server.store.all('Appointment')).toEqual([]);
  });

  test('is not told if the server only fails', async () => {
    const server = await start(scheduler);
    server.misbehave = ({ method }) => (method === 'POST' ? { status: 500 } : undefined);
    const { finding } = await probe(server, { mode: 'create' });
    expect(finding(name)).toMatchObject({ status: 'problem', detail: expect.stringContaining('500') });
  });

  test('is no reason to book by create where the server checks nothing', async () => {
    const server = await start({});
    const { finding, recommendedSettings } = await probe(server, { mode: 'create' });
    expect(finding(name)).toMatchObject({ status: 'problem', detail: expect.stringContaining('does not exist') });
    expect(recommendedSettings).toEqual({ booking: { mode: 'none' } });
    expect(server.store.all('Appointment')).toEqual([]);
  });

  test('says what of the check is left on a server that lets nothing be removed', async () => {
    const server = await start({});
    server.misbehave = ({ method, path }) =>
      path.startsWith('/Appointment/') && method !== 'GET' ? { status: 405 } : undefined;
    const { finding } = await probe(server, { mode: 'create' });
    const [left] = server.store.all('Appointment');
    expect(finding(name)?.detail).toContain(`Appointment/${left?.id} could not be removed again`);
  });

  test('is not asked for where no booking is offered', async () => {
    const server = await start(scheduler);
    const { finding } = await probe(server, { mode: 'create', changes: ['cancel'] });
    expect(finding(name)).toBeUndefined();
    expect(server.seen.filter(({ method }) => method === 'POST').map(({ path }) => path)).not.toContain('/Appointment');
  });
});
