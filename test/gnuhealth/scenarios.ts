import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { gnuHealthConnector } from '../../connectors/gnuhealth/src/connector.ts';
import { type FaultProxy, type ProxiedRequest, startFaultProxy } from '../ehrs/fault-proxy.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall, settledResponse, withQuickRecovery } from '../gateway/recovery.ts';
import type { Appointment } from '../requests/bookings.ts';
import { backdateWrites, eventually, rowsOf } from '../requests/codes.ts';
import { expectEvents } from '../requests/events.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { contextOf, type Site, staffOf, withSite } from './site.ts';

const careUnit = '/api/emrs/hospital/care-units/north';
const racers = 20;

interface Slot {
  readonly start: string;
  readonly end: string;
}
type Body = Appointment & { readonly reason?: string };

/** Requests of a caller to a gateway with this GNU Health behind it, over a network that can fail. */
export function describeScenarios(name: string, makeSite: () => Promise<Site>): void {
  describe(name, () => {
    let site: Site;
    let proxy: FaultProxy;
    let gateway: Gateway;
    beforeAll(async () => {
      site = await makeSite();
      proxy = await startFaultProxy(site.settings.base_url);
      gateway = await startGateway({
        intervals: { changes: 100, events: 100 },
        configure: (demo) => withQuickRecovery(withSite(demo, site, proxy.url), { settling_seconds: 2 }),
      });
    });
    afterEach(() => proxy.comeUp());
    afterAll(async () => {
      await gateway.close();
      await proxy.close();
      await site.stop();
    });

    async function slots(count: number): Promise<readonly [Slot, ...Slot[]]> {
      const from = Date.now() + 86_400_000;
      const query = new URLSearchParams({
        start: new Date(from).toISOString(),
        end: new Date(from + 20 * 86_400_000).toISOString(),
        resource_id: String(site.professionals.ada),
        healthcare_service_id: String(site.specialty),
        limit: String(count),
      });
      const { body } = await gateway.request<{ timeslots: Slot[] }>('GET', `${careUnit}/timeslots?${query}`);
      expect(body.timeslots).toHaveLength(count);
      return body.timeslots as [Slot, ...Slot[]];
    }

    function book({ start, end }: Slot, key = newKey()) {
      return gateway.request<Body>('POST', `${careUnit}/appointments`, {
        headers: { 'idempotency-key': key },
        body: {
          patient_id: `no_personal_number:${site.kariNumber}`,
          resource_id: String(site.professionals.ada),
          healthcare_service_id: String(site.specialty),
          start_time: start,
          end_time: end,
        },
      });
    }

    const at = (id: string) => `${careUnit}/appointments/${id}`;
    const change = (id: string, { start, end }: Slot, key = newKey()) =>
      gateway.request<Body>('PATCH', at(id), { headers: { 'idempotency-key': key }, body: { start, end } });
    const cancel = (id: string, key = newKey()) =>
      gateway.request<Body>('PATCH', at(id), { headers: { 'idempotency-key': key }, body: { status: 'cancelled' } });
    const read = async (id: string) => (await gateway.request<Body>('GET', at(id))).body;

    /** The patient's booked appointments at this time. */
    async function booked({ start, end }: Slot): Promise<readonly string[]> {
      const query = new URLSearchParams({ patient_id: String(site.patients.kari), status: 'booked', start, end });
      const { body } = await gateway.request<{ appointments: Appointment[] }>(
        'GET',
        `${careUnit}/appointments?${query}`,
      );
      return body.appointments.map(({ id }) => id);
    }

    const isFree = async ({ start }: Slot) => (await slots(50)).some((slot) => slot.start === start);

    /** As staff see it, past the proxy. */
    async function appointmentAt({ start, end }: Slot, patientId?: string) {
      const context = contextOf(site, site.desk);
      const connector = await gnuHealthConnector.open(context);
      const [unit] = context.careUnits;
      if (!unit) throw new Error('No care unit');
      const found = await connector.listAppointments?.({
        careUnit: unit,
        ...(patientId === undefined ? {} : { patientId }),
        range: { start: new Date(start), end: new Date(end) },
        states: ['booked'],
        limit: 10,
      });
      const [only] = found ?? [];
      if (!only) throw new Error('The time is not booked');
      return only;
    }

    test('books, moves and cancels: the id stays, and each time is free again', async () => {
      const [from, to] = (await slots(2)) as [Slot, Slot];
      const made = await book(from);
      expect(made, made.text).toMatchObject({ status: 201, body: { status: 'booked', modality: 'in_person' } });
      expect((await book(from)).body.reason).toBe('time_slot_unavailable');
      const { id } = made.body;
      expect(await change(id, to)).toMatchObject({ status: 200, body: { id, start: to.start } });
      expect([await isFree(from), await isFree(to)]).toEqual([true, false]);
      expect((await cancel(id)).status).toBe(200);
      expect((await read(id)).status).toBe('cancelled');
      expect(await isFree(to)).toBe(true);
    });

    test(`of ${racers} bookings of one time, one succeeds`, async () => {
      const [slot] = await slots(1);
      const results = await Promise.all(Array.from({ length: racers }, () => book(slot)));
      const won = results.filter(({ status }) => status === 201);
      expect(won).toHaveLength(1);
      for (const { status, body } of results) if (status !== 201) expect(body.reason).toBe('time_slot_unavailable');
      expect(await booked(slot)).toEqual(won.map(({ body }) => body.id));
    });

    test('what staff book, in a free time that was made before, and cancel is an event each', async () => {
      const [slot] = await slots(1);
      await eventually(async () =>
        expect(await rowsOf(gateway, 'SELECT FROM ehr_change_feeds WHERE cursor IS NOT NULL', [])).toHaveLength(1),
      );
      const { take } = await staffOf(site);
      const resource = { resourceId: String(site.professionals.ada), healthcareServiceId: String(site.specialty) };
      const release = await take?.({ start: new Date(slot.start), end: new Date(slot.end), ...resource });
      const { id } = await appointmentAt(slot);
      await expectEvents(gateway, id, ['booked']);
      await release?.();
      await expectEvents(gateway, id, ['booked', 'cancelled']);
    });

    describe('when GNU Health', () => {
      test('books and stays away, the retry finds the booking', async () => {
        const [slot] = await slots(1);
        const key = newKey();
        proxy.commitThenGoDown(isWrite);
        expect(await book(slot, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
        await nextCall(gateway, 'hospital', 'unavailable');
        await proxy.comeUp();
        const found = await finalResponse(() => book(slot, key));
        expect(found.status, found.text).toBe(201);
        expect(await booked(slot)).toEqual([found.body.id]);
      });

      test.each([
        ['503', { status: 503, contentType: 'text/plain', text: '' }],
        ['a page in HTML', { status: 200, contentType: 'text/html', text: '<title>Sign in</title>' }],
        ['half of its JSON', { status: 200, contentType: 'application/json', text: '{"result": [' }],
      ])('books and answers, and then answers with %s, the retry finds the booking', async (_, answer) => {
        const [slot] = await slots(1);
        const key = newKey();
        proxy.answerAfter(isWrite, answer);
        expect(await book(slot, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
        await proxy.comeUp();
        const found = await finalResponse(() => book(slot, key));
        expect(found, found.text).toMatchObject({ status: 201, body: { status: 'booked' } });
        expect(await booked(slot)).toEqual([found.body.id]);
      });

      test('stays away and books late, the retry finds the booking', async () => {
        const [slot] = await slots(1);
        const key = newKey();
        const late = proxy.finishLate(isWrite);
        expect(await book(slot, key)).toMatchObject({ status: 504 });
        await late.finish();
        await proxy.comeUp();
        const found = await finalResponse(() => book(slot, key));
        expect(found.status, found.text).toBe(201);
        expect(await booked(slot)).toEqual([found.body.id]);
      });

      test('never gets a booking, the retry books, and the first one is refused if it arrives after all', async () => {
        const [slot] = await slots(1);
        const key = newKey();
        const late = proxy.finishLate(isWrite);
        expect(await book(slot, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
        await proxy.comeUp();
        const made = await finalResponse(() => book(slot, key));
        expect(made.status, made.text).toBe(201);
        await late.finish();
        expect(await booked(slot)).toEqual([made.body.id]);
        await expectEvents(gateway, made.body.id, ['booked']);
      });

      test('never gets a booking, one with another key is not taken for it', async () => {
        const [slot] = await slots(1);
        const key = newKey();
        proxy.finishLate(isWrite);
        expect(await book(slot, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
        await proxy.comeUp();
        // Background recovery has ruled it out, and does not look for it any more.
        await eventually(async () =>
          expect(await rowsOf(gateway, 'SELECT FROM operations WHERE sealed_plan IS NOT NULL', [])).toEqual([]),
        );
        const made = await book(slot);
        expect(made.status, made.text).toBe(201);
        expect((await finalResponse(() => book(slot, key))).body.reason).toBe('time_slot_unavailable');
        expect(await booked(slot)).toEqual([made.body.id]);
        await expectEvents(gateway, made.body.id, ['booked']);
      });

      test('never gets a move or a cancellation, the retry makes it', async () => {
        const [from, to] = (await slots(2)) as [Slot, Slot];
        const { id } = (await book(from)).body;
        for (const send of [(key: string) => change(id, to, key), (key: string) => cancel(id, key)]) {
          await aSecond();
          const key = newKey();
          const late = proxy.finishLate(isWrite);
          expect(await send(key)).toMatchObject({ status: 504 });
          await proxy.comeUp();
          expect(await finalResponse(() => send(key))).toMatchObject({ status: 200, body: { id } });
          await late.finish();
        }
        expect(await read(id)).toMatchObject({ status: 'cancelled', start: to.start });
        expect([await isFree(from), await isFree(to)]).toEqual([true, true]);
      });

      test('gets a booking late that was sent again by then, it refuses the late one', async () => {
        const [slot] = await slots(1);
        const late = proxy.deliverLate(isWrite);
        const made = await book(slot);
        expect(made.status, made.text).toBe(201);
        await late.finish();
        expect(await booked(slot)).toEqual([made.body.id]);
      });

      test('moves and stays away, the retry finds the move', async () => {
        const [from, to] = (await slots(2)) as [Slot, Slot];
        const { id } = (await book(from)).body;
        const key = newKey();
        proxy.commitThenGoDown(isWrite);
        expect(await change(id, to, key)).toMatchObject({ status: 504 });
        await proxy.comeUp();
        expect(await finalResponse(() => change(id, to, key))).toMatchObject({
          status: 200,
          body: { id, start: to.start },
        });
        expect([await isFree(from), await isFree(to)]).toEqual([true, false]);
      });

      test('cancels without an answer, the time is free once', async () => {
        const [slot] = await slots(1);
        const { id } = (await book(slot)).body;
        const late = proxy.deliverLate(isWrite);
        expect((await cancel(id)).status).toBe(200);
        await late.finish();
        expect((await slots(50)).filter(({ start }) => start === slot.start)).toHaveLength(1);
      });

      test('books and stays away while staff cancel, nothing is booked again', async () => {
        const [slot] = await slots(1);
        const key = newKey();
        proxy.commitThenGoDown(isWrite);
        expect(await book(slot, key)).toMatchObject({ status: 504 });
        const { cancel: cancelAsStaff } = await staffOf(site);
        await cancelAsStaff?.(await appointmentAt(slot, String(site.patients.kari)));
        await proxy.comeUp();
        await eventually(async () => {
          await backdateWrites(gateway);
          const { status, text } = await settledResponse(() => book(slot, key));
          expect([status, JSON.parse(text).retryable]).toEqual([504, false]);
        });
        expect(await booked(slot)).toEqual([]);
      });
    });
  });
}

/** The time of a change is compared with that of a request, to the second. */
function aSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_100));
}

function isWrite({ body }: ProxiedRequest): boolean {
  return /"model\.gnuhealth\.(appointment|patient)\.write"/.test(body);
}
