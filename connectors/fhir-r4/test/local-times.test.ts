import { afterEach, describe, expect, test } from 'vitest';
import type { FhirResource, FhirSlot } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openCounting, probeServer, settingsFor } from './subject.ts';

const zoneOfProcess = process.env.TZ;
const zones = ['UTC', 'Pacific/Kiritimati', 'America/St_Johns'];
const inSweden: Partial<FhirSettings> = { local_time_zone: 'Europe/Stockholm' };

afterEach(() => {
  if (zoneOfProcess === undefined) delete process.env.TZ;
  else process.env.TZ = zoneOfProcess;
});

/** A booked appointment, and a copy of it that staff have made at another time. */
async function start(time: object, settings: Partial<FhirSettings> = {}) {
  const server = await startFake({ data: { days: 14 } });
  const { connector, leftOut } = await openCounting(settingsFor(server.url, settings));
  const [slot] = await freeSlots(connector, 1);
  const [made] = await write(connector, [creation(slot)]);
  const { identifier: _identifier, ...copy } = server.store.get(`Appointment/${made?.id}`) as FhirResource & {
    readonly identifier?: unknown;
  };
  server.store.save({ ...copy, id: 'other', slot: undefined, minutesDuration: undefined, ...time } as FhirResource);
  const list = () => connector.listAppointments?.({ careUnit: north, patientId: 'p-1', limit: 10 });
  return { server, connector, leftOut, made, list };
}

describe.each(zones)('a process in %s', (zone) => {
  test.each(['2031-02-03T08:00:00', '2031-02-03', '2031-02-30T08:00:00Z'])(
    'leaves out and counts an appointment that begins at %s, and shows the others',
    async (begin) => {
      const { connector, leftOut, made, list } = await start({ start: begin, end: '2031-02-03T08:30:00' });
      process.env.TZ = zone;
      expect((await list())?.map(({ id }) => id)).toEqual([made?.id]);
      expect(leftOut).toContainEqual({ type: 'Appointment', id: 'other', path: '/start' });
      await expect(connector.findAppointments?.(north, ['other'])).rejects.toMatchObject({ kind: 'rejected' });
    },
  );

  test('reads the offset of an appointment', async () => {
    const { leftOut, list } = await start({ start: '2031-02-03T08:00:00+01:00', end: '2031-02-03T08:30:00+01:00' });
    process.env.TZ = zone;
    expect((await list())?.find(({ id }) => id === 'other')).toMatchObject({
      start: new Date('2031-02-03T07:00:00Z'),
      end: new Date('2031-02-03T07:30:00Z'),
    });
    expect(leftOut).toEqual([]);
  });

  test.each([
    ['2031-02-03T08:00:00', '2031-02-03T08:30:00', '2031-02-03T07:00:00Z', '2031-02-03T07:30:00Z'],
    ['2031-07-03T08:00', '2031-07-03T08:30', '2031-07-03T06:00:00Z', '2031-07-03T06:30:00Z'],
    ['2031-02-03T08:00:00Z', '2031-02-03T09:30:00', '2031-02-03T08:00:00Z', '2031-02-03T08:30:00Z'],
    // The last half hour before the clocks go on.
    ['2031-03-30T01:30:00', '2031-03-30T02:00:00', '2031-03-30T00:30:00Z', '2031-03-30T01:00:00Z'],
  ])('reads %s to %s in the time zone that the settings name', async (begin, end, from, until) => {
    const { connector, leftOut, list } = await start({ start: begin, end }, inSweden);
    process.env.TZ = zone;
    const expected = { id: 'other', start: new Date(from), end: new Date(until) };
    expect((await list())?.find(({ id }) => id === 'other')).toMatchObject(expected);
    expect(await connector.findAppointments?.(north, ['other'])).toMatchObject([expected]);
    expect(leftOut).toEqual([]);
  });

  test('leaves out an appointment in an hour that the clocks skip or repeat', async () => {
    for (const begin of ['2031-03-30T02:30:00', '2031-10-26T02:30:00']) {
      const { leftOut, made, list } = await start({ start: begin, end: '2031-10-26T03:00:00' }, inSweden);
      process.env.TZ = zone;
      expect((await list())?.map(({ id }) => id)).toEqual([made?.id]);
      expect(leftOut).toContainEqual({ type: 'Appointment', id: 'other', path: '/start' });
    }
  });
});

test('a free Slot without an offset can be booked, and its appointment cancelled, with the setting', async () => {
  const server = await startFake({ data: { days: 14 } });
  const { connector } = await openCounting(settingsFor(server.url, inSweden));
  const [found] = await freeSlots(connector, 1);
  const id = `slot-r-1-${found.start.getTime() / 60_000}`;
  const stored = server.store.get(`Slot/${id}`) as unknown as FhirSlot & Record<'start' | 'end', string>;
  const local = (text: string) => {
    const inZone = new Date(text).toLocaleString('sv-SE', { timeZone: 'Europe/Stockholm' });
    return inZone.replace(' ', 'T');
  };
  const asSent = { ...stored, start: local(stored.start), end: local(stored.end) };
  server.misbehave = ({ method, path }) =>
    method === 'GET' && path === '/Slot' && server.store.get(`Slot/${id}`)?.meta?.versionId === stored.meta?.versionId
      ? { status: 200, body: { resourceType: 'Bundle', type: 'searchset', entry: [{ resource: asSent }] } }
      : undefined;
  expect(await freeSlots(connector, 1)).toEqual([found]);
  const [made] = await write(connector, [creation(found)]);
  expect(made).toMatchObject({ state: 'booked', start: found.start, end: found.end });
  server.misbehave = () => undefined;
  const cancelled = await write(connector, [{ kind: 'cancel', appointmentId: made?.id ?? '', comment: null }]);
  expect(cancelled).toMatchObject([{ state: 'cancelled', start: found.start }]);
});

test('the check proposes the time zone of the care units, and nothing where every moment has an offset', async () => {
  const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const check = async (offset: string, settings: Partial<FhirSettings> = {}) => {
    const time = { start: `${tomorrow}T08:00:00${offset}`, end: `${tomorrow}T08:30:00${offset}` };
    const { server } = await start(time);
    const { findings, recommendedSettings } = await probeServer(settingsFor(server.url, settings));
    return [findings.find(({ name }) => name === 'times')?.status, recommendedSettings.local_time_zone];
  };
  expect(await check('')).toEqual(['problem', 'Europe/Stockholm']);
  expect(await check('+01:00')).toEqual([undefined, undefined]);
  expect(await check('', inSweden)).toEqual([undefined, undefined]);
});

test('a time zone that does not exist is refused', async () => {
  const server = await startFake();
  const opened = openCounting(settingsFor(server.url, { local_time_zone: 'Europe/Nowhere' }));
  await expect(opened).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('local_time_zone') });
});
