import { afterAll, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { bookingOf, fhirClient, issueIn } from './test-requests.ts';

const faults = faultyEhrs();
const gateway = await startGateway({ connectors: [wrapConnector(faults.faulty)], configure: withQuickRecovery });
afterAll(() => gateway.close());

const face = fhirClient(gateway, oslo);
const ehr = faults.of('sandbox-no');
const once = (value: string) => ({ 'if-none-exist': `identifier=urn:oid:1.2.3|${value}` });
const identifier = (value: string) => [{ system: 'urn:oid:1.2.3', value }];

test('a stored response is sent again while the EHR is away', async () => {
  const [slot] = await face.slots(1);
  const body = bookingOf(slot, 'p-1', { identifier: identifier('kept') });
  const first = await face.post('/Appointment', body, once('kept'));
  expect(first.status).toBe(201);
  ehr.goDown();
  const again = await face.post('/Appointment', body, once('kept'));
  expect([again.status, again.body.id, again.headers.etag]).toEqual([200, first.body.id, first.headers.etag]);
  // What the EHR does not say now is named by its id.
  expect(again.body.participant[1]?.actor?.identifier).toEqual({ system: 'urn:crossward:resource', value: 'r-1' });
  const unknown = await face.post('/Appointment', bookingOf(slot));
  expect(issueIn(unknown)).toEqual([503, 'transient', 'ehr_unavailable']);
  expect(Number(unknown.headers['retry-after'])).toBeGreaterThan(0);
  ehr.comeUp();
});

test('a booking whose answer was lost is found by the same request', async () => {
  const slots = await eventually(async () => {
    const found = await face.slots(2);
    expect(found.length).toBeGreaterThan(0);
    return found;
  });
  const body = bookingOf(slots[0], 'p-1', { identifier: identifier('lost') });
  ehr.goDownDuring({ isDone: true });
  const lost = await face.post('/Appointment', body, once('lost'));
  expect(issueIn(lost)).toEqual([504, 'timeout', 'outcome_unknown']);
  ehr.comeUp();
  const found = await eventually(async () => {
    const response = await face.post('/Appointment', body, once('lost'));
    expect(response.status).toBeOneOf([200, 201]);
    return response;
  });
  expect(found.body).toMatchObject({ status: 'booked', start: slots[0]?.start });
  const again = await face.post('/Appointment', body, once('lost'));
  expect([again.status, again.body.id]).toEqual([200, found.body.id]);
});
