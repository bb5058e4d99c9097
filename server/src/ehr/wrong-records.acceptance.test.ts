/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, around, creationBody, freeSlot, oslo, sodermalm } from '../../../test/requests/bookings.ts';
import { eventually, messages } from '../../../test/requests/codes.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';

/** What the EHR answers with the records of p-5, as behind a proxy that confuses answers. */
let confused: 'nothing' | 'reads' | 'next write' = 'nothing';
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector) => ({
      ...connector,
      async findPatient(identifier) {
        const asked = confused === 'reads' ? ({ type: 'emr_id', value: 'p-5' } as const) : identifier;
        return (await connector.findPatient?.(asked)) ?? null;
      },
      async changeAppointments(write) {
        const done = (await connector.changeAppointments?.(write)) ?? [];
        if (confused !== 'next write') return done;
        confused = 'nothing';
        return done.map((it) => ({ ...it, patientId: 'p-5' }));
      },
    })),
  ],
});
afterAll(() => gateway.close());
const { send } = keysOf(gateway);

interface List {
  readonly appointments: readonly Appointment[];
}

test("another patient's record is not shown, booked or sent a code", async () => {
  const slot = await freeSlot(gateway, { careUnit: sodermalm });
  confused = 'reads';
  const read = await gateway.request('GET', `${oslo}/patients/emr_id:p-3`);
  expect(read).toMatchObject({ status: 502, body: { reason: 'ehr_rejected' } });
  expect(read.text).not.toContain('p-5');
  const booking = await gateway.request('POST', `${sodermalm}/appointments`, { body: creationBody(slot) });
  expect(booking).toMatchObject({ status: 502, body: { reason: 'ehr_rejected' } });
  confused = 'nothing';
  const made = await gateway.request<List>('GET', `${sodermalm}/appointments?${around(slot)}`);
  expect(made.body.appointments).toEqual([]);
  expect(await messages(gateway)).toEqual([]);
});

test("a write that is answered with another patient's record is told when its own result is known", async () => {
  const slot = await freeSlot(gateway);
  const key = newKey();
  confused = 'next write';
  const first = await send(creation(slot), key);
  expect(first).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  const response = await eventually(async () => {
    const again = await send(creation(slot), key);
    expect(again.status).toBe(201);
    return again;
  });
  expect(response.body).toMatchObject({ patient_id: 'emr_id:p-3' });
  const made = await gateway.request<List>(
    'GET',
    `${oslo}/appointments?${around(slot)}&resource_id=${slot.resource_id}`,
  );
  expect(made.body.appointments.map(({ id }) => id)).toEqual([response.body.id]);
});
