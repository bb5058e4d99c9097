import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway.ts';
import { anotherConnector } from '../../../test/other-ehrs.ts';

let isDown = true;
const gateway = await startGateway({
  connectors: [
    anotherConnector((connector, emr) => {
      if (emr === 'sandbox-se' && isDown) throw new ConnectorError('unavailable', 'As the test wants it');
      return connector;
    }),
  ],
});
afterAll(() => gateway.close());

test('an EHR that is down at the start keeps nobody else waiting, and is told from a mistake of the caller', async () => {
  const { body } = await gateway.request<{ emrs: { id: string; status: string }[] }>('GET', '/api/emrs');
  expect(body.emrs.map(({ id, status }) => [id, status])).toEqual([
    ['sandbox-no', 'available'],
    ['sandbox-se', 'unavailable'],
    ['sandbox-uk', 'available'],
  ]);
  const careUnit = '/api/emrs/sandbox-se/care-units/sodermalm';
  for (const path of ['/patients/se_personal_number:191212121212', '/resources', '/appointments?patient_id=p-1']) {
    expect(await gateway.request('GET', `${careUnit}${path}`)).toMatchObject({
      status: 503,
      body: { reason: 'ehr_unavailable', retryable: true },
      headers: { 'retry-after': '10' },
    });
  }
  expect(await gateway.request('GET', '/api/emrs/sandbox-no/care-units/oslo-sentrum/patients/p-1')).toMatchObject({
    status: 200,
  });
  isDown = false;
  await expect
    .poll(async () => (await gateway.request('GET', `${careUnit}/patients/se_personal_number:191212121212`)).status, {
      timeout: 25_000,
      interval: 500,
    })
    .toBe(200);
});
