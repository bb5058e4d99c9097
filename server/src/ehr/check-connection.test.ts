import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadEmr } from '../config/file/load.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { checkConnection } from './check-connection.ts';
import { connectors } from './connectors.ts';

/** Checks an EHR whose connector opens like this. */
async function checkOpening(open: () => Promise<Connector>) {
  const path = demoConfigurationPath;
  const { emr } = await loadEmr({ path, connectors, environment: {} }, () => 'sandbox-no');
  return checkConnection({ emr, module: { name: 'broken', settingsSchema: {}, open } }, undefined);
}

test('a connector that throws on opening is named with the place, without its message', async () => {
  const error = await checkOpening(async () => {
    throw new TypeError('the name of a patient');
  }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(/EHR sandbox-no: .* threw TypeError .*check-connection/),
  );
  expect(error).toHaveProperty('message', expect.not.stringContaining('the name of a patient'));
});

test('an EHR that is unavailable is a result of the check', async () => {
  const check = await checkOpening(async () => {
    throw new ConnectorError('unavailable', 'No route');
  });
  expect(check).toMatchObject({ emr: 'sandbox-no', claims: null, error: 'unavailable: no route' });
});
