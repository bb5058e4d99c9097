/** @module-tag any-database */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, creationBody, freeSlot, sodermalm } from '../../../test/requests/bookings.ts';
import { confirmationOf, messagesAbout } from '../../../test/requests/codes.ts';

/** What the EHR has as the phone number of every patient. */
let nationalPhone: string;
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector) => ({
      ...connector,
      async findPatient(identifier) {
        const patient = (await connector.findPatient?.(identifier)) ?? null;
        return patient && { ...patient, phone: null, nationalPhone, email: null };
      },
    })),
  ],
  configure: (demo) => ({
    ...demo,
    emrs: demo.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((it) => (sodermalm.includes(it.id) ? { ...it, default_country: 'SE' } : it)),
    })),
  }),
});
afterAll(() => gateway.close());
beforeEach(() => {
  nationalPhone = '0701740605';
});

test('a number without a country code gets that of the care unit, in the response and for the code', async () => {
  const read = await gateway.request('GET', `${sodermalm}/patients/emr_id:p-3`);
  expect(read).toMatchObject({ status: 200, body: { phone: '+46701740605' } });
  const held = await book(gateway, { careUnit: sodermalm });
  expect(confirmationOf(held).channel).toBe('sms');
  expect(await messagesAbout(gateway, held.id)).toMatchObject([{ channel: 'sms', to: '+46701740605' }]);
});

test('a number that is not valid there counts as none, and nothing is held', async () => {
  nationalPhone = '0701740';
  const read = await gateway.request('GET', `${sodermalm}/patients/emr_id:p-3`);
  expect(read).toMatchObject({ status: 200, body: { phone: null } });
  const slot = await freeSlot(gateway, { careUnit: sodermalm });
  const booking = await gateway.request('POST', `${sodermalm}/appointments`, { body: creationBody(slot) });
  expect(booking).toMatchObject({ status: 409, body: { reason: 'no_contact_channel' } });
  expect(await freeSlot(gateway, { careUnit: sodermalm })).toEqual(slot);
});

test('a care unit without a default country has no number', async () => {
  const read = await gateway.request('GET', '/api/emrs/sandbox-se/care-units/lund/patients/emr_id:p-3');
  expect(read).toMatchObject({ status: 200, body: { phone: null } });
});
