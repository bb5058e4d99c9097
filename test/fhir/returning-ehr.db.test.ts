import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { creationBody, freeSlot } from '../requests/bookings.ts';
import { eventually, rowsOf } from '../requests/codes.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const server = await startFake({ data: { days: 14 } });
const gateway = await startGateway({
  configure: (demo) => {
    const ehr = fhirEhr('fhir', server);
    const breaker = { failures: 2, reset_seconds: 1 };
    return withEhrs(demo, [{ ...ehr, connection: { ...ehr.connection, changes_seconds: 0, retries: 0, breaker } }]);
  },
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

test('an operation that waits for an EHR is due when the EHR comes back, however long its pause is', async () => {
  const path = careUnitPath('fhir', 'north');
  const slot = await freeSlot(gateway, { careUnit: path, from: new Date(Date.now() + 86_400_000) });
  let isAway = false;
  server.misbehave = ({ method, path: asked }) => {
    if (isAway) return 'cut_before';
    isAway = method === 'POST' && asked === '/';
    return isAway ? 'cut_after' : undefined;
  };
  const { status } = await gateway.request('POST', `${path}/appointments`, { body: creationBody(slot) });
  expect(status).toBe(504);
  const pending = `SELECT last_failure FROM operations WHERE emr = 'fhir' AND state = 'pending'`;
  await eventually(async () => {
    expect(await rowsOf(gateway, pending)).toEqual([{ last_failure: expect.stringMatching(/^(ehr_|outcome_)/) }]);
    expect(gateway.deps.services.ehrs.get('fhir')?.health().breaker).not.toBe('closed');
  });
  await eventually(async () => {
    const postponed = await rowsOf(
      gateway,
      `UPDATE operations SET next_attempt_at = now() + interval '1 hour'
       WHERE emr = 'fhir' AND lease_expires_at IS NULL RETURNING true AS done`,
    );
    expect(postponed).toEqual([{ done: true }]);
  });
  server.misbehave = () => undefined;
  await eventually(async () => {
    expect((await gateway.request('GET', `${path}/patients/p-3`)).status).toBe(200);
  });
  await eventually(async () => expect(await rowsOf(gateway, pending)).toEqual([]));
  expect(server.store.all('Appointment')).toHaveLength(1);
});
