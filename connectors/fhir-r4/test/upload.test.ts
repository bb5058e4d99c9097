import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import { healthcareServices, loadDataSet, timeZone } from '../fake/data-set.ts';
import type { FakeOptions } from '../fake/server.ts';
import { uploadTo } from '../fake/upload.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirResource } from '../src/fhir.ts';
import { startFake } from './fake.ts';

async function startEmpty(options: FakeOptions) {
  const server = await startFake({ ...options, data: [] });
  return server;
}

const data = { days: 7 };

describe.each([
  ['accepts client-assigned ids and validates', { takesIds: true, validates: true }],
  ['assigns its own ids', {}],
  ['assigns its own ids and responds without a body', { emptyBodies: true }],
])('a server that %s', (_, options) => {
  test('gets each resource of the data set once, and the connector finds people and slots', async () => {
    const server = await startEmpty(options);
    const uploader = uploadTo({ baseUrl: server.url });
    await loadDataSet(uploader.save, data);
    const count = server.store.all('Slot').length;
    expect(count).toBeGreaterThan(0);
    await loadDataSet(uploadTo({ baseUrl: server.url }).save, data);
    expect(server.store.all('Slot')).toHaveLength(count);
    expect(server.store.all('Patient')).toHaveLength(6);

    const careUnit = { id: 'north', timeZone, settings: { location: uploader.referenceOf('Location/north') } };
    const connector = await fhirR4Connector.open({
      emr: 'fhir',
      settings: { base_url: server.url, healthcare_services: healthcareServices },
      careUnits: [careUnit],
      http: plainHttp(),
      now: () => new Date(),
    });
    const resources = await connector.listResources?.(careUnit);
    expect(resources?.map(({ name }) => name).sort()).toEqual([
      'Läkare Noggrann Fjäll',
      'Sjuksköterska Varsam Dal',
      'Ultraljud',
      'Vaccinationsrum',
    ]);
    const patient = await connector.findPatient?.({ type: 'se_personal_number', value: '191212121212' });
    expect(`Patient/${patient?.id}`).toBe(uploader.referenceOf('Patient/p-1'));
    const slots = await connector.listTimeSlots?.({
      careUnit,
      start: new Date(),
      end: new Date(Date.now() + 7 * 24 * 60 * 60 * 1000),
      limit: 1,
    });
    expect(slots).toHaveLength(1);
  });
});

test('an existing Slot is left unchanged if the upload keeps slots', async () => {
  const server = await startEmpty({ takesIds: true });
  const save = async () => loadDataSet(uploadTo({ baseUrl: server.url, keepsSlots: true }).save, { days: 4 });
  await save();
  const [slot] = server.store.all('Slot');
  server.store.save({ ...slot, status: 'busy' } as FhirResource);
  await save();
  expect(server.store.get(`Slot/${slot?.id}`)).toMatchObject({ status: 'busy' });
});

test.each([{ 'retry-after': '0.01' }, { ratelimit: '"requests";r=12;t=60, "interactions";r=0;t=1' }])(
  'an upload waits for a busy server, and fails if the server rejects it: %o',
  async (headers) => {
    const server = await startEmpty({ takesIds: true });
    const location = { resourceType: 'Location', id: 'north' };
    const { save, referenceOf } = uploadTo({ baseUrl: server.url });
    let rejections = 0;
    server.misbehave = () => (rejections++ === 0 ? { status: 429, headers } : undefined);
    await save(location);
    expect(server.store.get('Location/north')).toMatchObject(location);
    expect(referenceOf('Location/north')).toBe('Location/north');
    server.misbehave = () => ({ status: 403 });
    await expect(save(location)).rejects.toThrow('The server responded 403 to PUT Location');
    await expect(uploadTo({ baseUrl: server.url }).save(location)).rejects.toThrow('responded 403 to PUT Location');
  },
);
