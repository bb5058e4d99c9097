/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, book, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor } from '../../../test/requests/codes.ts';

/** Runs after the next read of appointments in the EHR, before the gateway gets its result. */
let afterRead: (() => Promise<unknown>) | undefined;
async function settle<Result>(result: Result): Promise<Result> {
  const meanwhile = afterRead;
  afterRead = undefined;
  await meanwhile?.();
  return result;
}

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector) => ({
      ...connector,
      findAppointments: async (...input) => settle((await connector.findAppointments?.(...input)) ?? []),
      listAppointments: async (...input) => settle((await connector.listAppointments?.(...input)) ?? []),
    })),
  ],
});
afterAll(() => gateway.close());

const careUnit = careUnitOf(gateway, sodermalm);

/** A booking that is confirmed after the EHR was read for the next request. */
async function confirmedAfterRead() {
  const held = await book(gateway, { careUnit: sodermalm });
  const code = await codeFor(gateway, held.id);
  afterRead = async () => expect(await careUnit.confirm(held.id, code)).toMatchObject({ body: { status: 'booked' } });
  return held;
}

test('a cancellation cancels a booking that was confirmed after it was read', async () => {
  const { id } = await confirmedAfterRead();
  expect(await careUnit.cancel(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  expect(await careUnit.get(id)).toMatchObject({ status: 'cancelled' });
});

test('a booking that was confirmed after it was read is not shown as cancelled', async () => {
  const one = await confirmedAfterRead();
  expect(await careUnit.get(one.id)).toMatchObject({ status: 'booked' });
  const listed = await confirmedAfterRead();
  const query = new URLSearchParams({ start: listed.start ?? '', end: listed.end ?? '', patient_id: 'p-3' });
  const { body } = await gateway.request<{ appointments: Appointment[] }>('GET', `${sodermalm}/appointments?${query}`);
  expect(body.appointments.find(({ id }) => id === listed.id)).toMatchObject({ status: 'booked' });
});
