import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import { book } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../test/requests/webhook-receiver.ts';

let proxy: PostgresProxy | undefined;
const gateway = await startGateway({
  configure: withQuickWebhooks,
  async through(databaseUrl) {
    proxy = await startPostgresProxy(databaseUrl);
    const url = new URL(proxy.url);
    // No other limit ends the transaction.
    url.searchParams.set('idle_in_transaction_session_timeout', '0');
    return url.href;
  },
});
const other = await startGateway({ configure: withQuickWebhooks, beside: gateway });
const receiver = await startReceiver();
afterAll(async () => {
  await proxy?.heal();
  await other.close();
  await gateway.close();
  await proxy?.close();
  await receiver.close();
});

test('events are published while the COMMIT of the deletion of an endpoint hangs', async () => {
  const webhooks = webhooksOf(gateway);
  await webhooks.create(receiver.url);
  const deleted = await webhooks.create(`${receiver.url}&deleted`);
  const hanging = proxy?.cutNext(
    { kind: 'delay' },
    ({ kind, statements }) =>
      kind === 'commit' && statements.some((text) => /delete from "?webhook_endpoints/i.test(text)),
  );
  const deletion = webhooks.call('DELETE', `/${deleted.id}`);
  await hanging?.met;
  const booked = await book(other);
  await eventually(async () => expect(receiver.accepted().map(({ data }) => data.appointment_id)).toContain(booked.id));
  hanging?.release();
  // The server has ended the transaction, so it can be repeated.
  expect((await deletion).status).toBeGreaterThanOrEqual(503);
  expect((await webhooks.call('DELETE', `/${deleted.id}`)).status).toBe(204);
});
