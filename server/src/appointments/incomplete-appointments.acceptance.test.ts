/** @module-tag any-database */
import type { Appointment as EhrAppointment } from '@crossward/connector-kit';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, at, book, freeSlot, freeSlots, oslo } from '../../../test/requests/bookings.ts';

/** What the EHR does not say about any appointment. */
type Lack = Partial<Pick<EhrAppointment, 'end' | 'resourceId' | 'resourceName' | 'healthcareServiceId'>>;
let lack: Lack = {};
const nothing: Lack = { end: null, resourceId: null, resourceName: 'Dr\u202E Lind ', healthcareServiceId: null };
let unreadable = 0;

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, _, context) => ({
      ...connector,
      async findAppointments(careUnit, ids) {
        const found = (await connector.findAppointments?.(careUnit, ids)) ?? [];
        return found.map((it) => ({ ...it, ...lack }));
      },
      async listAppointments(query) {
        for (let index = 0; index < unreadable; index += 1) {
          context.leftOut?.({ type: 'Appointment', id: `canary-${index}`, path: '/participant' });
        }
        return ((await connector.listAppointments?.(query)) ?? []).map((it) => ({ ...it, ...lack }));
      },
    })),
  ],
});
afterAll(() => gateway.close());
beforeEach(() => {
  lack = {};
  unreadable = 0;
});

const patch = (id: string, body: object) => gateway.request('PATCH', `${oslo}/appointments/${id}`, { body });
const patchAll = (body: object) => gateway.request('PATCH', `${oslo}/appointments`, { body });
const refused = (detail: string) => ({
  status: 409,
  body: { reason: 'change_not_allowed', detail: expect.stringContaining(detail) },
});

test('an appointment about which the EHR says little is shown, its comment changed, and it is cancelled', async () => {
  const { id, start } = await book(gateway);
  lack = nothing;
  const shown = { id, start, end: null, resource_id: null, resource_name: 'Dr Lind', healthcare_service_id: null };
  expect(await gateway.request('GET', `${oslo}/appointments/${id}`)).toMatchObject({ status: 200, body: shown });
  const list = await gateway.request<{ appointments: Appointment[] }>('GET', `${oslo}/appointments?patient_id=p-3`);
  expect(list.body.appointments).toContainEqual(expect.objectContaining(shown));
  const commented = await patch(id, { comment: 'Bring the X-ray' });
  expect(commented).toMatchObject({ status: 200, body: { comment: 'Bring the X-ray' } });
  expect(await patch(id, { status: 'cancelled' })).toMatchObject({ status: 200, body: { status: 'cancelled' } });
});

test('it cannot be moved, and the problem says why', async () => {
  const [first, second] = await freeSlots(gateway, { limit: 2 });
  const { id } = await book(gateway, first && { slot: first });
  const move = at(second ?? expect.unreachable());
  const cases: [Lack, object, string][] = [
    [{ resourceId: null }, move, 'does not name the resource'],
    [{ healthcareServiceId: null }, move, 'does not name its healthcare service'],
    [{ end: null }, { resource_id: 'r-2' }, 'does not say when this appointment ends'],
  ];
  for (const [next, body, detail] of cases) {
    lack = next;
    expect(await patch(id, body)).toMatchObject(refused(detail));
    const bulk = { ids: [id], ...body };
    expect(await patchAll(bulk)).toMatchObject({
      ...refused(detail),
      body: { errors: [expect.objectContaining({ pointer: '/ids/0', id })] },
    });
  }
  lack = { end: null };
  expect(await patch(id, move)).toMatchObject({ status: 200 });
});

test('the FHIR face shows what is known', async () => {
  const { id } = await book(gateway);
  lack = nothing;
  const { status, body } = await gateway.request<{ participant: object[] }>('GET', `${oslo}/fhir-r4/Appointment/${id}`);
  expect(status).toBe(200);
  expect(body).not.toHaveProperty('end');
  expect(body).not.toHaveProperty('serviceType');
  expect(body).not.toHaveProperty('slot');
  expect(body.participant).toContainEqual({ actor: { display: 'Dr Lind' }, status: 'accepted' });
});

test('the FHIR face changes its comment and cancels it, and loses nothing of what it has shown', async () => {
  for (const lacking of [nothing, { end: null }, { resourceId: null, resourceName: 'Dr Lind' }]) {
    lack = {};
    const { id } = await book(gateway);
    lack = lacking;
    const send = (method: string, body: object, type: string) =>
      gateway.request<{ status: string; comment?: string }>(method, `${oslo}/fhir-r4/Appointment/${id}`, {
        body,
        headers: { 'content-type': `application/${type}`, prefer: 'handling=strict' },
      });
    const read = await gateway.request<object>('GET', `${oslo}/fhir-r4/Appointment/${id}`);
    const put = await send('PUT', { ...read.body, comment: 'one' }, 'fhir+json');
    expect([put.status, put.body.comment]).toEqual([200, 'one']);
    const patched = await send('PATCH', [{ op: 'replace', path: '/comment', value: 'two' }], 'json-patch+json');
    expect([patched.status, patched.body.comment]).toEqual([200, 'two']);
    const part = [
      { name: 'type', valueCode: 'replace' },
      { name: 'path', valueString: 'Appointment.status' },
      { name: 'value', valueCode: 'cancelled' },
    ];
    const cancel = { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
    const cancelled = await send('PATCH', cancel, 'fhir+json');
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  }
});

test('records that cannot be read are counted for callers and operators, without their ids', async () => {
  const slot = await freeSlot(gateway);
  unreadable = 2;
  const list = () => gateway.request('GET', `${oslo}/appointments?resource_id=${slot.resource_id}`);
  expect((await list()).status).toBe(200);
  await list();
  const emr = await gateway.request<{ unreadable_records: object[] }>('GET', '/api/emrs/sandbox-no');
  expect(emr.body.unreadable_records).toEqual([{ type: 'Appointment', count: 2, since: expect.any(String) }]);
  const { text } = await gateway.request('GET', '/metrics');
  expect(text).toContain('crossward_ehr_unreadable_records{emr="sandbox-no",type="Appointment"} 2');
  expect(text + emr.text + gateway.logLines.join()).not.toContain('canary-');
});
