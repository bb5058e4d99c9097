import type { LeftOutRecord } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { afterEach, describe, expect, test } from 'vitest';
import { careUnits } from '../fake/data-set.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirResource } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, settingsFor } from './subject.ts';

const zoneOfProcess = process.env.TZ;

afterEach(() => {
  if (zoneOfProcess === undefined) delete process.env.TZ;
  else process.env.TZ = zoneOfProcess;
});

/** A booked appointment, and a copy of it that staff have made at another time. */
async function start(time: object) {
  const server = await startFake({ data: { days: 14 } });
  const leftOut: LeftOutRecord[] = [];
  const connector = await fhirR4Connector.open({
    emr: 'fhir',
    settings: settingsFor(server.url),
    careUnits,
    http: plainHttp(),
    now: () => new Date(),
    leftOut: (record) => void leftOut.push(record),
  });
  const [slot] = await freeSlots(connector, 1);
  const [made] = await write(connector, [creation(slot)]);
  const { identifier: _identifier, ...copy } = server.store.get(`Appointment/${made?.id}`) as FhirResource & {
    readonly identifier?: unknown;
  };
  server.store.save({ ...copy, id: 'other', slot: undefined, minutesDuration: undefined, ...time } as FhirResource);
  const list = () => connector.listAppointments?.({ careUnit: north, patientId: 'p-1', limit: 10 });
  return { connector, leftOut, made, list };
}

describe.each(['UTC', 'Pacific/Kiritimati', 'America/St_Johns'])('a process in %s', (zone) => {
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
});
