/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { sodermalm } from '../../../../test/requests/bookings.ts';
import { resolveConnection } from '../../config/schema/connection.ts';

/** Look-ups of appointments that hang until the test ends them. */
const slow: (() => void)[] = [];
const openGates = () => slow.splice(0).forEach((letGo) => void letGo());

function slowToFind(connector: Connector): Connector {
  return {
    ...connector,
    async findAppointments(...input) {
      await new Promise<void>((resolve) => void slow.push(resolve));
      return (await connector.findAppointments?.(...input)) ?? [];
    },
  };
}

const connection = resolveConnection({
  changes_seconds: 0,
  timeout_ms: 300_000,
  queue_timeout_ms: 60_000,
  concurrency: 3,
  queue: 3,
});
const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => (emr === 'sandbox-se' ? slowToFind(connector) : connector))],
  configure: (configuration) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) => (emr.id === 'sandbox-se' ? { ...emr, connection } : emr)),
  }),
});
afterAll(() => gateway.close());

test('bulk requests of one client do not block reads of others', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `a-${index}`);
  const body = { ids, status: 'cancelled' };
  const client = 'appointments:write';
  let over = 0;
  const bulk = Array.from({ length: 6 }, () =>
    gateway.request('PATCH', `${sodermalm}/appointments`, { client, body }).finally(() => over++),
  );
  await expect.poll(() => slow.length).toBe(3);
  const read = gateway.request('GET', `${sodermalm}/resources`, { client: 'resources:read' });
  // Three requests have all turns, three wait: this request has displaced one of them.
  await expect.poll(() => over).toBe(1);
  slow.shift()?.();
  expect((await read).status).toBe(200);
  const opening = setInterval(openGates, 5);
  const statuses = (await Promise.all(bulk)).map(({ status }) => status);
  clearInterval(opening);
  expect(new Set(statuses)).toEqual(new Set([400, 503]));
});
