import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Problem, startGateway } from '../gateway/gateway.ts';
import { eventually, rowsOf } from '../requests/codes.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const server = await startFake({ data: { days: 14 } });
const gateway = await startGateway({
  configure: (demo) => {
    const ehr = fhirEhr('fhir', server);
    return withEhrs(demo, [{ ...ehr, connection: { ...ehr.connection, changes_seconds: 0, retries: 0 } }]);
  },
});
/** Answers everything with a page, as a proxy does in front of a server that is being maintained. */
const maintenance = createServer((request, response) => {
  request.resume();
  response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>We will be back soon</h1>');
});
afterAll(async () => {
  await gateway.close();
  maintenance.close();
});

test('a server that answers everything with a maintenance page is reported as unavailable', async () => {
  const path = `${careUnitPath('fhir', 'north')}/patients/p-3`;
  expect((await gateway.request('GET', path)).status).toBe(200);
  await server.close();
  const { port } = new URL(server.url);
  await new Promise<void>((resolve) => maintenance.listen(Number(port), '127.0.0.1', resolve));
  expect((maintenance.address() as AddressInfo).port).toBe(Number(port));
  for (let count = 0; count < 5; count++) {
    expect(await gateway.request<Problem>('GET', path)).toMatchObject({
      status: 503,
      body: { reason: 'ehr_unavailable' },
    });
  }
  expect(await gateway.request('GET', '/api/emrs/fhir')).toMatchObject({ body: { status: 'unavailable' } });
  await eventually(async () =>
    expect(await rowsOf(gateway, `SELECT type FROM events WHERE type LIKE 'emr.%'`)).toEqual([
      { type: 'emr.unavailable' },
    ]),
  );
  const opened = gateway.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'EHR unavailable');
  expect(opened).toMatchObject([{ emr: 'fhir', level: 50, fault: `status 503 from ${new URL(server.url).host}` }]);
});
