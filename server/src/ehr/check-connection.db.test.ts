import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadEmr } from '../config/file/load.ts';
import { createDb } from '../db/kysely.ts';
import { bindEmr } from './check-connection.ts';
import { connectors } from './connectors.ts';
import { sharedTurns } from './guard/shared-turns.ts';

const { database, dispose } = await createTestDatabase();
const ehr = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
afterAll(async () => {
  ehr.close();
  await dispose();
});

test('requests beside the gateways, as of a check or the kit, take their turns of the rate', async () => {
  const { emr } = await loadEmr({ path: demoConfigurationPath, connectors, environment: {} }, () => 'sandbox-no');
  const rate = 1 / 3600;
  const connection = { ...emr.connection, requests_per_second: rate, allow_private_addresses: true };
  const { port } = Object(ehr.address()) as { readonly port: number };
  const url = `http://127.0.0.1:${port}/`;
  const bound = await bindEmr(
    {
      emr: { ...emr, connection: { ...connection, allow_plain_text: true } },
      module: {
        name: 'asking',
        settingsSchema: {},
        async open({ http }) {
          await http.send({ method: 'GET', url, repeatable: true });
          return {
            capabilities: { patientIdentifierTypes: [], resourceIdentifierTypes: [], changes: [], transactions: false },
          };
        },
      },
    },
    database.pool,
  );
  await bound.open();
  await bound.close();
  const secondsOfGateway = await sharedTurns(createDb(database), emr.id)(1, rate);
  expect(Math.round(secondsOfGateway / 3600)).toBe(1);
});
