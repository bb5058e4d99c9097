import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { freeSlot } from '../requests/bookings.ts';
import { eventually, rowsOf } from '../requests/codes.ts';
import { withConsole } from '../requests/console.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const server = await startFake({ data: { days: 14 } });
const gateway = await startGateway({
  configure: (demo) => {
    const ehr = fhirEhr('fhir', server);
    return withEhrs(withConsole(demo), [{ ...ehr, connection: { ...ehr.connection, changes_seconds: 0, retries: 0 } }]);
  },
});
afterAll(() => gateway.close());

test('searches for free times show that an EHR has stopped, although its services are answered from memory', async () => {
  const path = careUnitPath('fhir', 'north');
  const { start, healthcare_service_id } = await freeSlot(gateway, {
    careUnit: path,
    from: new Date(Date.now() + 86_400_000),
  });
  const end = new Date(Date.parse(start) + 86_400_000).toISOString();
  const query = new URLSearchParams({ start, end, healthcare_service_id });
  const states = async () => (await gateway.request<{ status: string }>('GET', '/api/emrs/fhir')).body.status;
  expect(await states()).toBe('available');
  await server.close();
  const search = () => gateway.request('GET', `${path}/timeslots?${query}`);
  const events = async () =>
    await rowsOf(gateway, `SELECT type, data->>'reason' AS reason FROM events WHERE type LIKE 'emr.%'`);
  for (let count = 0; count < 5; count++) expect((await search()).status).toBe(503);
  expect(await states()).toBe('unavailable');
  // Each search has read the services from memory.
  const told = async () =>
    (await gateway.request<{ answered_from_memory_at: string | null }>('GET', '/api/emrs/fhir')).body
      .answered_from_memory_at;
  expect(Date.parse((await told()) ?? '')).toBeLessThanOrEqual(Date.now());
  const ehr = gateway.deps.services.ehrs.get('fhir');
  const { lastSuccessAt } = ehr?.health() ?? {};
  expect((await search()).status).toBe(503);
  expect(ehr?.health().lastSuccessAt).toEqual(lastSuccessAt);
  const figures = ehr && gateway.deps.console?.readFigures(ehr);
  expect(figures?.failedCalls[0]).toMatchObject({
    operation: 'listTimeSlots',
    outcome: 'unavailable',
    cause: `connection refused by ${new URL(server.url).host}`,
  });

  await eventually(async () => expect(await events()).toEqual([{ type: 'emr.unavailable', reason: 'failing' }]));

  for (let count = 6; count < 300; count++) expect((await search()).status).toBe(503);
  const lines = gateway.logLines.map((line): { level: number; msg: string; emr?: string } => JSON.parse(line));
  expect(lines.filter(({ msg }) => msg === 'request failed').map(({ level }) => level)).toEqual(Array(300).fill(30));
  const errors = lines.filter(({ level }) => level >= 50);
  expect(errors[0]).toMatchObject({
    emr: 'fhir',
    msg: 'EHR unavailable',
    fault: `connection refused by ${new URL(server.url).host}`,
    failed_requests: expect.any(Number),
  });
  // On a slow machine it takes longer than a minute.
  expect(errors.slice(1).filter(({ msg }) => msg !== 'EHR still unavailable')).toEqual([]);
});
