import { afterAll, expect, test } from 'vitest';
import { type Fault, startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirSlot } from '../../connectors/fhir-r4/src/fhir.ts';
import { claimedSlot, claimOf } from '../../connectors/fhir-r4/src/mappers/slot.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { creationBody, freeSlot } from '../requests/bookings.ts';
import { backdateWrites, eventually, rowsOf } from '../requests/codes.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const server = await startFake({ transactions: 'none', data: { days: 14 } });
const gateway = await startGateway({
  configure: (demo) => {
    const ehr = fhirEhr('fhir', server);
    const timeouts = { request_timeout_ms: 500, timeout_ms: 2000, retries: 0, changes_seconds: 0 };
    return withEhrs(demo, [{ ...ehr, connection: { ...ehr.connection, ...timeouts } }]);
  },
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const { promise: never } = Promise.withResolvers<void>();
const faults: readonly (readonly [string, Fault])[] = [
  ['freezes', { heldBackUntil: never }],
  // Last: the gateway sends fewer requests for a while.
  ['limits the rate', { status: 429 }],
];

test.each(faults)(
  'if the EHR %s when a Slot is given back, the operation is open until the Slot is free',
  async (_, fault) => {
    const path = careUnitPath('fhir', 'north');
    const slot = await freeSlot(gateway, { careUnit: path, from: new Date(Date.now() + 86_400_000) });
    let hasStopped = false;
    server.misbehave = ({ method, path: asked, body }) => {
      hasStopped ||= method === 'PUT' && body.includes('"status":"free"');
      if (hasStopped) return fault;
      return method === 'POST' && asked === '/Appointment' ? { status: 422 } : undefined;
    };
    const book = () =>
      gateway.request<{ reason: string }>('POST', `${path}/appointments`, { body: creationBody(slot) });
    let response = await book();
    // On a loaded machine the time can run out before anything is sent.
    while (!hasStopped && response.body?.reason === 'ehr_timeout') response = await book();
    expect(response).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    expect(hasStopped).toBe(true);
    server.misbehave = () => undefined;
    server.seen.splice(0);
    const claimed = () => (server.store.all('Slot') as unknown as FhirSlot[]).filter((it) => it.status !== 'free');
    expect(claimed()).toHaveLength(1);

    const open = () => rowsOf(gateway, `SELECT last_failure FROM operations WHERE emr = 'fhir' AND state = 'pending'`);
    await eventually(async () => {
      await backdateWrites(gateway);
      expect(await open()).toEqual([{ last_failure: 'outcome_unknown' }]);
      expect(server.seen.some(({ query }) => query.includes('identifier='))).toBe(true);
    });
    const [left] = claimed();
    const claim = { owner: claimOf(left as FhirSlot)?.owner ?? '', until: new Date(Date.now() - 1000) };
    server.store.save(claimedSlot(left as FhirSlot, 'busy', claim) as never);
    // Nobody lists the time.
    await eventually(async () => {
      await backdateWrites(gateway);
      expect(await open()).toEqual([]);
    });
    expect(claimed()).toEqual([]);
    expect(server.store.all('Appointment')).toEqual([]);
  },
);
