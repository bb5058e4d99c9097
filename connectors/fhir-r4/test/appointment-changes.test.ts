import type { Connector } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirAppointment } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, openCounting, settingsFor, south } from './subject.ts';

/** A server with appointments, and their ids. */
async function withAppointments(count: number, options: FakeOptions = {}) {
  const server = await startFake({ data: { days: 14 }, ...options });
  const connector = await openConnector(settingsFor(server.url));
  const start = (await list(connector, undefined)).next;
  const slots = await freeSlots(connector, count);
  const made = [];
  for (const slot of slots) made.push(...(await write(connector, [creation(slot)])));
  const ids = made.map(({ id }) => id).sort();
  const metaOf = (id: string) => server.store.get(`Appointment/${id}`).meta as { lastUpdated: string };
  return { server, connector, start, ids, metaOf };
}

function list(connector: Connector, after: string | undefined, limit = 100) {
  const page = connector.listAppointmentChanges?.({ careUnits: [north, south], limit, ...(after ? { after } : {}) });
  if (!page) throw new Error('The connector does not report changes');
  return page;
}

/** More than any test needs. */
const mostCalls = 50;

async function readAll(connector: Connector, after: string, limit?: number) {
  const ids: string[] = [];
  for (let next = after, calls = 1; ; calls++) {
    if (calls > mostCalls) throw new Error('Reading does not end');
    const page = await list(connector, next, limit);
    ids.push(...page.changes.map(({ appointment }) => appointment.id));
    next = page.next;
    if (!page.hasMore) return { ids: ids.sort(), next };
  }
}

describe('changes of appointments', () => {
  test('of which one does not say when it was changed are all others, and that one is counted', async () => {
    const surplus: unknown[] = [];
    const { server, start, ids } = await withAppointments(2, { habits: { surplus } });
    const { connector, leftOut } = await openCounting(settingsFor(server.url));
    const { meta: _, ...undated } = server.store.get(`Appointment/${ids[0]}`);
    surplus.push({ resource: { ...undated, id: 'undated' } });
    expect((await readAll(connector, start)).ids).toEqual(ids);
    expect(leftOut).toContainEqual({ type: 'Appointment', id: 'undated', path: '/meta/lastUpdated' });
  });

  test('of which none says when it was changed are an error', async () => {
    const surplus: unknown[] = [];
    const { connector, start } = await withAppointments(0, { habits: { surplus } });
    surplus.push({ resource: { resourceType: 'Appointment', id: 'undated', status: 'booked' } });
    await expect(list(connector, start)).rejects.toMatchObject({ kind: 'unsupported' });
  });

  test('to a start that cannot be read hide no other, and the appointment does not count as hidden', async () => {
    const { server, start, ids } = await withAppointments(3);
    const { connector, leftOut } = await openCounting(settingsFor(server.url));
    const [unreadable = '', ...others] = ids;
    const { meta: _, ...appointment } = server.store.get(`Appointment/${unreadable}`);
    server.store.save({ ...appointment, start: '2030-02-30T09:00:00Z' });
    const { changes, hidden } = await list(connector, start);
    expect(changes.map(({ appointment: { id } }) => id).sort()).toEqual(others);
    expect(hidden).toEqual([]);
    expect(leftOut).toContainEqual({ type: 'Appointment', id: unreadable, path: '/start' });
  });

  test('with the same instant are all read, although they do not fit into a page', async () => {
    const { connector, start, ids, metaOf } = await withAppointments(5, { pageSize: 2 });
    const instant = new Date().toISOString();
    for (const id of ids) Object.assign(metaOf(id), { lastUpdated: instant });
    expect((await readAll(connector, start, 2)).ids).toEqual(ids);
  });

  test('of a large import with one instant are all read, and a later change as well', async () => {
    const { server, connector, start, ids, metaOf } = await withAppointments(2);
    const [imported = '', later = ''] = ids;
    const instant = new Date(Date.now() - 1_000).toISOString();
    Object.assign(metaOf(imported), { lastUpdated: instant });
    for (let number = 1; number < 1_300; number++) {
      const copy = server.store.save({ ...server.store.get(`Appointment/${imported}`), id: `import-${number}` });
      Object.assign(copy.meta ?? {}, { lastUpdated: instant });
    }
    Object.assign(metaOf(later), { lastUpdated: '2020-01-01T00:00:00Z' });
    const first = await readAll(connector, start);
    expect(new Set(first.ids).size).toBe(1_300);
    expect(first.ids).toHaveLength(1_300);
    Object.assign(metaOf(later), { lastUpdated: new Date().toISOString() });
    expect((await readAll(connector, first.next)).ids).toEqual([later]);
  });

  test('of many appointments whose history has to be read come in several parts', async () => {
    const { server, connector, start, ids } = await withAppointments(1);
    const { identifier: _, created: __, ...model } = server.store.get(`Appointment/${ids[0]}`) as FhirAppointment;
    const imported = Array.from({ length: 60 }, (_, number) => `import-${number}`);
    for (const id of imported) {
      server.store.save({ ...model, id } as FhirAppointment);
      server.store.save({ ...model, id, description: 'changed' } as FhirAppointment);
    }
    server.seen.splice(0);
    const histories = () => server.seen.splice(0).filter(({ path }) => path.endsWith('/_history')).length;
    const first = await list(connector, start);
    expect(first.hasMore).toBe(true);
    expect(histories()).toBe(50);
    const rest = await readAll(connector, first.next);
    expect(histories()).toBeLessThanOrEqual(11);
    const read = [...first.changes.map(({ appointment }) => appointment.id), ...rest.ids];
    expect(read.sort()).toEqual([...ids, ...imported].sort());
  });

  test('that become visible late are read, and no version is read twice', async () => {
    const { connector, start, ids, metaOf } = await withAppointments(3);
    const [late = '', ...others] = ids;
    const { lastUpdated } = metaOf(late);
    // As if its transaction had begun a minute ago, and was not committed yet.
    Object.assign(metaOf(late), { lastUpdated: '2020-01-01T00:00:00Z' });
    const first = await readAll(connector, start);
    expect(first.ids).toEqual(others);
    Object.assign(metaOf(late), { lastUpdated: new Date(Date.parse(lastUpdated) - 60_000).toISOString() });
    const second = await readAll(connector, first.next);
    expect(second.ids).toEqual([late]);
    expect((await readAll(connector, second.next)).ids).toEqual([]);
  });

  test('are read from a server whose instants have whole seconds', async () => {
    const { connector, start, ids } = await withAppointments(2, { wholeSeconds: true });
    expect((await readAll(connector, start)).ids).toEqual(ids);
  });

  test('say when an appointment was created, if its version does', async () => {
    const { server, connector, start, ids } = await withAppointments(2);
    const [id = ''] = ids;
    server.store.save(server.store.get(`Appointment/${id}`) as FhirAppointment);
    const { changes } = await list(connector, start);
    for (const { appointment, createdAt, changedAt } of changes)
      expect(createdAt).toEqual(appointment.id === id ? undefined : changedAt);
  });

  test('that take an appointment out of every care unit name it as hidden', async () => {
    const { server, connector, start, ids } = await withAppointments(2);
    const [hidden = ''] = ids;
    const { start: _, end: __, ...untimed } = server.store.get(`Appointment/${hidden}`) as FhirAppointment;
    server.store.save({ ...untimed, status: 'waitlist' } as FhirAppointment);
    const page = await list(connector, start);
    expect(page.hidden).toEqual([hidden]);
    expect(page.changes.map(({ appointment }) => appointment.id)).toEqual(ids.slice(1));
  });

  test.each([
    ['of its first version', {}, true],
    ['which a server without a history does not know', { history: false }, false],
  ] as const)(
    'say when staff created an appointment that has changed since: the time %s',
    async (_, options, isKnown) => {
      const { server, connector, start, ids } = await withAppointments(1, options);
      const { identifier: _i, created: _c, ...own } = server.store.get(`Appointment/${ids[0]}`) as FhirAppointment;
      const byStaff = { ...own, id: 'by-staff' } as FhirAppointment;
      const { meta } = server.store.save(byStaff);
      const first = meta?.lastUpdated;
      server.store.save({ ...byStaff, priority: 1 } as FhirAppointment);
      const { changes } = await list(connector, start);
      const change = changes.find(({ appointment }) => appointment.id === 'by-staff');
      expect(change?.createdAt?.toISOString()).toBe(isKnown ? new Date(first ?? '').toISOString() : undefined);
    },
  );

  describe('that were deleted', () => {
    const remove = ({ server }: { readonly server: FakeServer }, id: string) =>
      server.store.remove(`Appointment/${id}`);

    test.each([
      ['dates them', {}],
      ['does not say when', { datesDeletions: false }],
      ['sends small pages', { pageSize: 2 }],
      ['has a search for them instead of a history', { deletedSearch: 'known' }],
    ] as const)('are returned once as cancelled, by a server that %s', async (_, options) => {
      const made = await withAppointments(3, options);
      const { connector, start, ids } = made;
      const [first = '', second = ''] = ids;
      const before = await readAll(connector, start);
      remove(made, first);
      const read = await list(connector, before.next);
      expect(read.changes.map(({ appointment: { id, state } }) => [id, state])).toEqual([[first, 'cancelled']]);
      remove(made, second);
      const again = await readAll(connector, read.next);
      expect(again.ids).toEqual([second]);
      expect((await readAll(connector, again.next)).ids).toEqual([]);
      expect(await connector.findAppointments?.(north, [first])).toEqual([]);
    });

    test('and then created again, are returned as they are', async () => {
      const made = await withAppointments(1);
      const { connector, server, start, ids } = made;
      const [id = ''] = ids;
      const appointment = server.store.get(`Appointment/${id}`) as FhirAppointment;
      remove(made, id);
      server.store.save(appointment);
      const { changes, next } = await list(connector, start);
      expect(changes.map((it) => it.appointment.state)).toEqual(['booked']);
      expect((await readAll(connector, next)).ids).toEqual([]);
    });

    test('are left out if they were cancelled or have ended', async () => {
      const made = await withAppointments(2);
      const { connector, server, start, ids } = made;
      const [cancelled = '', past = ''] = ids;
      const change = (id: string, fields: object) =>
        server.store.save({ ...(server.store.get(`Appointment/${id}`) as FhirAppointment), ...fields });
      change(cancelled, { status: 'cancelled' });
      change(past, { start: '2020-01-01T09:00:00Z', end: '2020-01-01T09:30:00Z' });
      const { next } = await readAll(connector, start);
      for (const id of ids) remove(made, id);
      expect((await readAll(connector, next)).ids).toEqual([]);
    });

    test('are all returned when there are more than fit into one call', async () => {
      const made = await withAppointments(1);
      const { connector, server, start, ids } = made;
      const [id = ''] = ids;
      const appointment = server.store.get(`Appointment/${id}`) as FhirAppointment;
      const copies = Array.from({ length: 250 }, (_, index) => `copy-${index}`);
      for (const copy of copies) server.store.save({ ...appointment, id: copy });
      const { next } = await readAll(connector, start);
      for (const copy of copies) remove(made, copy);
      expect((await readAll(connector, next)).ids).toEqual(copies.toSorted());
    });

    test.each([
      ['has no history', { history: false }, undefined],
      ['rejects its history', {}, '/Appointment/_history'],
      ['ignores the search for them', { deletedSearch: 'ignored' }, undefined],
    ] as const)('are left out by a server that %s, and other changes are returned', async (_, options, rejected) => {
      const made = await withAppointments(2, options);
      const { connector, server, start, ids } = made;
      const [gone = '', other = ''] = ids;
      server.misbehave = ({ path }) => (path === rejected ? { status: 400 } : undefined);
      remove(made, gone);
      expect((await readAll(connector, start)).ids).toEqual([other]);
    });
  });

  test('of a server that does not report their times are unsupported', async () => {
    const { server, connector, start, ids } = await withAppointments(1);
    Object.assign(server.store.get(`Appointment/${ids[0]}`), { meta: { versionId: '1' } });
    server.misbehave = ({ path }) =>
      path === '/Appointment'
        ? {
            status: 200,
            body: { resourceType: 'Bundle', entry: [{ resource: server.store.get(`Appointment/${ids[0]}`) }] },
          }
        : undefined;
    await expect(list(connector, start)).rejects.toMatchObject({ kind: 'unsupported' });
  });
});
