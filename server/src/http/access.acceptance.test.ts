/** @module-tag any-database */
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { accessCases } from '../../../test/access-cases.ts';
import { startGateway } from '../../../test/gateway.ts';
import { hashSecret } from '../config/configuration.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

for (const operation of gateway.app.operations.values()) accessCases(gateway, operation);

test('the OpenAPI description contains exactly the operations of the table', () => {
  const { paths = {} } = gateway.app.swagger();
  const documented = Object.values(paths).flatMap((path) =>
    Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
  );
  expect(documented.toSorted()).toEqual([...gateway.app.operations.keys()].toSorted());
});

test('accepts both secrets of a client during a rotation', async () => {
  const second = 'the-other-secret-of-a-client-that-rotates';
  const rotating = await startGateway({
    configure: (configuration) => ({
      ...configuration,
      clients: configuration.clients.map((client) =>
        client.id === 'everything'
          ? { ...client, secrets: [...client.secrets, { sha256: hashSecret(second) }] }
          : client,
      ),
    }),
  });
  onTestFinished(() => rotating.close());
  const { id, secret } = rotating.credentials('everything');
  for (const it of [secret, second]) {
    expect((await rotating.request('GET', '/api/emrs', { client: { id, secret: it } })).status).toBe(200);
  }
  expect((await rotating.request('GET', '/api/emrs', { client: { id, secret: `${second}x` } })).status).toBe(401);
});

test('public paths need no credentials', async () => {
  for (const path of ['/api/openapi.json', '/api/openapi.yaml', '/health/live', '/health/ready', '/metrics']) {
    const response = await gateway.request('GET', path, { client: null });
    expect(response.status, path).toBe(200);
  }
});
