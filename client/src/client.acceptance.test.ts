/** @module-tag any-database */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../test/gateway/gateway.ts';
import { codeFor } from '../../test/requests/codes.ts';
import { type CareUnitClient, type CrosswardClientOptions, createCrosswardClient } from './index.ts';

let gateway: Gateway;
let oslo: CareUnitClient;

beforeAll(async () => {
  gateway = await startGateway();
  oslo = createClient().careUnit('sandbox-no', 'oslo-sentrum');
});

afterAll(() => gateway.close());

function createClient(options: Partial<CrosswardClientOptions> = {}) {
  const { id, secret } = gateway.credentials('everything');
  const baseUrl = `http://127.0.0.1:${gateway.port}`;
  return createCrosswardClient({ baseUrl, clientId: id, clientSecret: secret, ...options });
}

/** An appointment of half an hour on a day in 2030. */
function at(day: string, time: string) {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const end = `${String(hours + (minutes === 30 ? 1 : 0)).padStart(2, '0')}:${minutes === 30 ? '00' : '30'}`;
  return {
    patient_id: 'p-3',
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    start_time: `2030-03-${day}T${time}:00`,
    end_time: `2030-03-${day}T${end}:00`,
  };
}

describe('the client', () => {
  test('books once if the response to the first attempt is lost', async () => {
    let lost = 0;
    const { appointments } = createClient({
      retry: { baseDelayMs: 1 },
      async fetch(request) {
        const response = await fetch(request);
        if (request.method !== 'POST' || lost > 0) return response;
        lost += 1;
        await response.body?.cancel();
        throw new TypeError('fetch failed');
      },
    }).careUnit('sandbox-no', 'oslo-sentrum');

    const booked = await appointments.create(at('18', '09:00'));
    expect(lost).toBe(1);
    const range = { start: '2030-03-18T00:00:00', end: '2030-03-19T00:00:00' };
    expect(await appointments.list({ patient_id: 'p-3', ...range }).all()).toEqual([booked]);
  });

  test('moves, cancels and previews several appointments', async () => {
    const { appointments } = oslo;
    const ids = [(await appointments.create(at('19', '09:00'))).id, (await appointments.create(at('19', '09:30'))).id];
    const later = { start: '2030-03-19T10:00:00', end: '2030-03-19T11:00:00' };

    const previews = await appointments.previewUpdateMany(ids, later);
    expect(previews.map(({ change }) => change)).toEqual(['moved', 'moved']);
    const moved = await appointments.updateMany(ids, later);
    expect(moved.map(({ start }) => start)).toEqual(['2030-03-19T10:00:00+01:00', '2030-03-19T10:30:00+01:00']);

    const wouldBeCancelled = await appointments.previewCancelMany(ids);
    expect(wouldBeCancelled.map(({ change }) => change)).toEqual(['cancelled', 'cancelled']);
    const cancelled = await appointments.cancelMany(ids, { comment: 'Feels better' });
    expect(cancelled.map(({ status, comment }) => [status, comment])).toEqual([
      ['cancelled', 'Feels better'],
      ['cancelled', 'Feels better'],
    ]);
  });

  test('confirms with a code', async () => {
    const { appointments } = createClient().careUnit('sandbox-se', 'sodermalm');
    const booking = await appointments.create(at('20', '09:00'));
    expect(await appointments.previewCancel(booking.id)).toMatchObject({ change: 'cancelled' });
    const tooSoon = appointments.resendCode(booking.id, { timeoutMs: 5_000 });
    await expect(tooSoon).rejects.toMatchObject({ problem: { reason: 'rate_limited' } });

    const code = await codeFor(gateway, booking.id);
    const confirmed = await appointments.confirm(booking.id, code);
    expect(confirmed).toMatchObject({ id: booking.id, status: 'booked', confirmation: null });
    expect(await appointments.get(booking.id)).toEqual(confirmed);
    expect(await appointments.confirmMany([booking.id], code)).toEqual([confirmed]);
  });

  test('finds people by numbers that are in no URL, page by page', async () => {
    const urls: string[] = [];
    const unit = createClient({
      fetch: (request) => {
        urls.push(request.url);
        return fetch(request);
      },
    }).careUnit('sandbox-no', 'oslo-sentrum');
    const number = '15859000026';
    expect(await unit.patients.get(`no_personal_number:${number}`)).toMatchObject({ given_name: 'Lykkelig' });
    const range = { start: '2030-03-21T09:00:00', end: '2030-03-21T11:00:00' };
    const slots = unit.timeSlots.list({ ...range, resource_id: ['r-1', 'r-2'], limit: 1 });
    expect(new Set((await slots.all()).map(({ resource_id }) => resource_id))).toEqual(
      new Set(['emr_id:r-1', 'emr_id:r-2']),
    );
    await unit.appointments.list({ patient_id: `no_personal_number:${number}`, limit: 1 }).all();
    expect(urls.length).toBeGreaterThan(5);
    expect(urls.filter((url) => url.includes(number) || /\br-\d/.test(url))).toEqual([]);
  });

  test('finds the first times of all care units, page by page', async () => {
    const range = { start: '2030-03-21T09:00:00', end: '2030-03-21T10:00:00' };
    const found = await createClient()
      .timeSlots.search({ ...range, limit: 5 })
      .all();
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(found.map(({ emr }) => emr)).size).toBeGreaterThan(1);
    const starts = found.map(({ start }) => Date.parse(start));
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
  });

  test('lists EHRs, care units, resources and services', async () => {
    const client = createClient();
    const ids = async (list: { all(): Promise<{ id: string }[]> }) => (await list.all()).map(({ id }) => id);
    expect(await ids(client.emrs.list())).toContain('sandbox-no');
    expect(await ids(client.careUnits('sandbox-no').list())).toContain('oslo-sentrum');
    expect(await ids(oslo.resources.list())).not.toEqual([]);
    expect(await ids(oslo.healthcareServices.list())).toContain('consultation');
    expect(await oslo.resources.get('r-1')).toMatchObject({ kind: 'practitioner' });
  });

  test('throws the problem for a wrong secret, without retries', async () => {
    const { emrs } = createClient({ clientSecret: 'wrong' });
    await expect(emrs.list().all()).rejects.toMatchObject({
      problem: { status: 401, reason: 'credentials_invalid' },
      attempts: 1,
    });
  });

  test('has the paths of the OpenAPI description, and no other', async () => {
    const { raw } = createClient();
    const { data } = await raw.GET('/api/emrs');
    expect(data?.emrs.map(({ id }) => id)).toContain('sandbox-no');
    // @ts-expect-error: no such path.
    const { response } = await raw.GET('/api/nothing');
    expect(response.status).toBe(404);
  });
});
