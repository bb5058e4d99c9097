import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { expect, onTestFinished, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { fhirR4Connector } from '../../connectors/fhir-r4/src/connector.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { formatCheck } from '../../server/src/cli/emr-check-report.ts';
import { loadConfiguration } from '../../server/src/config/file/load.ts';
import { clientSecret, temporaryFolder } from '../../server/src/config/test-support.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';
import { startGateway } from '../gateway/gateway.ts';
import { book } from '../requests/bookings.ts';

interface BookableResource {
  readonly id: string;
  readonly healthcare_service_ids: readonly string[];
}

const rest = `    synthetic_identifiers: true
    connection: { allow_private_addresses: true }
    care_units:
      - { id: north, name: North, time_zone: Europe/Stockholm, language: sv, settings: { location: Location/north } }
      - { id: south, name: South, time_zone: Europe/Stockholm, language: sv, settings: { location: Location/south } }
clients:
  - id: acme
    secrets: [{ env: ACME_CLIENT_SECRET }]
    scopes: [appointments:read]
    grants: [{ emr: fhir }]
`;

async function load(settings: string) {
  const path = join(await temporaryFolder(), 'crossward.yaml');
  await writeFile(path, `emrs:\n  - id: fhir\n    name: FHIR\n    connector: fhir-r4\n${settings}${rest}`);
  return loadConfiguration({ path, connectors, environment: { ACME_CLIENT_SECRET: clientSecret } });
}

test('with the recommended settings of emr check, every resource can be booked', async () => {
  const server = await startFake({ data: { days: 14 } });
  onTestFinished(() => server.close());
  const other = { coding: [{ system: 'urn:other', code: 'consultation' }] };
  server.store.save({ ...server.store.get('Schedule/schedule-r-3'), serviceType: [other] } as FhirResource);
  const baseUrl = `      base_url: ${server.url}\n`;
  const [before] = (await load(`    settings:\n${baseUrl}`)).emrs;
  const careUnits = (before?.care_units ?? []).map((it) => ({ ...it, timeZone: it.time_zone }));
  const context = {
    emr: 'fhir',
    settings: { base_url: server.url },
    careUnits,
    http: plainHttp(),
    now: () => new Date(),
  };
  const probe = await fhirR4Connector.probe?.(context);
  const printed = formatCheck({ emr: 'fhir', connector: 'fhir-r4', ...(probe && { probe }), claims: null });
  const [, recommended = ''] = printed.split('Recommended\n');
  expect(recommended).toContain('healthcare_services:');

  const pasted = recommended.replace(/^ {2}/gm, '    ').replace('settings:\n', `settings:\n${baseUrl}`);
  const { emrs } = await load(pasted);
  const gateway = await startGateway({
    configure: (configuration) => ({
      ...configuration,
      emrs: [...configuration.emrs, ...emrs],
      clients: configuration.clients.map((client) => ({
        ...client,
        grants: [
          ...client.grants,
          ...client.grants.slice(0, 1).map(() => ({ emr: 'fhir', care_units: ['north', 'south'] })),
        ],
      })),
    }),
  });
  onTestFinished(() => gateway.close());

  const booked: string[] = [];
  for (const unit of ['north', 'south']) {
    const careUnit = `/api/emrs/fhir/care-units/${unit}`;
    const { body } = await gateway.request<{ resources: BookableResource[] }>('GET', `${careUnit}/resources`);
    for (const { id, healthcare_service_ids } of body.resources) {
      const [healthcareServiceId = 'none'] = healthcare_service_ids;
      const from = new Date(Date.now() + 24 * 60 * 60 * 1000);
      const resourceId = id.replace(/^emr_id:/, '');
      const made = await book(gateway, { careUnit, resourceId, healthcareServiceId, from, days: 6 });
      booked.push(made.resource_id);
    }
  }
  expect(booked.map((id) => id.replace(/^emr_id:/, '')).sort()).toEqual([
    'device_scanner-1',
    'location_room-1',
    'r-1',
    'r-2',
    'r-3',
  ]);
});
