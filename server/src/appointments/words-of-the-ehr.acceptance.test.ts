/** @module-tag any-database */
import { type Appointment, type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { at, book, creationBody, freeSlot, freeSlots, oslo } from '../../../test/requests/bookings.ts';

const words = 'Kom fastande.\nRing 08-123 456 78 om du är sjuk, 19640823-3234!';
const shown = 'Kom fastande. Ring 08-123 456 78 om du är sjuk, …!';
let refusal: ConnectorError | undefined;

/** Says something about each change, and calls each appointment and time slot a video meeting. */
function talking(connector: Connector): Connector {
  const { changeAppointments, listTimeSlots, findAppointments } = connector;
  const byVideo = <Record>(records: readonly Record[] = []) =>
    records.map((it) => ({ ...it, modality: 'video' as const }));
  return {
    ...connector,
    async changeAppointments(write) {
      if (refusal) throw refusal;
      const changed: readonly Appointment[] = byVideo(await changeAppointments?.(write));
      return changed.map((it) => ({ ...it, notice: words }));
    },
    listTimeSlots: async (query) => byVideo(await listTimeSlots?.(query)),
    // An EHR that says it in everything that is read, too.
    findAppointments: async (careUnit, ids) =>
      byVideo(await findAppointments?.(careUnit, ids)).map((it) => ({ ...it, notice: words })),
  };
}

const gateway = await startGateway({ logLevel: 'trace', connectors: [wrapConnector(talking)] });
afterAll(() => gateway.close());

test('what the EHR says about a change is in its response and replay, and nowhere else', async () => {
  const slot = await freeSlot(gateway);
  const request = { body: creationBody(slot), headers: { 'idempotency-key': crypto.randomUUID() } };
  const { status, body } = await gateway.request<{ id: string }>('POST', `${oslo}/appointments`, request);
  expect(status).toBe(201);
  expect(body).toMatchObject({ notice: shown, modality: 'video' });
  expect((await gateway.request('POST', `${oslo}/appointments`, request)).body).toEqual(body);
  expect((await gateway.request('GET', `${oslo}/appointments/${body.id}`)).body).toMatchObject({
    notice: null,
    modality: 'video',
  });
  const listed = await gateway.request('GET', `${oslo}/appointments?patient_id=p-3`);
  expect(listed.text).not.toContain('fastande');
  const kept = await gateway.request('PATCH', `${oslo}/appointments/${body.id}`, { body: at(slot) });
  expect(kept.body).toMatchObject({ notice: null });
});

test('time slots show the modality', async () => {
  const slots = await freeSlots(gateway, { limit: 3 });
  expect(slots.map((it) => Reflect.get(it, 'modality'))).toEqual(['video', 'video', 'video']);
});

test.each(['time_slot_unavailable', 'rejected'] as const)(
  'what the EHR says when it answers %s is the detail of the problem, and not in the log',
  async (kind) => {
    const { id } = await book(gateway);
    const slot = await freeSlot(gateway);
    refusal = new ConnectorError(kind, 'Refused in a test', { publicDetail: words });
    try {
      const reason = kind === 'rejected' ? 'ehr_rejected' : 'time_slot_unavailable';
      for (const response of [
        await gateway.request('POST', `${oslo}/appointments`, { body: creationBody(slot) }),
        await gateway.request('PATCH', `${oslo}/appointments/${id}`, { body: at(slot) }),
        await gateway.request('PATCH', `${oslo}/appointments`, { body: { ids: [id], ...at(slot) } }),
      ]) {
        expect(response).toMatchObject({ status: kind === 'rejected' ? 502 : 400, body: { reason, detail: shown } });
      }
    } finally {
      refusal = undefined;
    }
  },
);

test('no log line has what the EHR said', () => {
  expect(gateway.logLines.length).toBeGreaterThan(10);
  expect(gateway.logLines.filter((line) => /fastande|19640823/.test(line))).toEqual([]);
});
