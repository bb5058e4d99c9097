import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book } from '../../../test/requests/bookings.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../test/requests/webhook-receiver.ts';
import { insertClient } from '../clients/change-clients.ts';

/** Both gateways publish events. Only the first one reads clients again before it needs them. */
const options = { configure: withQuickWebhooks, intervals: { clients: 3_600_000 } };
const gateway = await startGateway(options);
const other = await startGateway({ ...options, beside: gateway });
const receiver = await startReceiver();
afterAll(async () => {
  await other.close();
  await gateway.close();
  await receiver.close();
});

// Which of the gateways publishes is left to chance, so several clients try.
test.for(['first', 'second', 'third', 'fourth', 'fifth', 'sixth'])(
  'a client that another gateway does not know yet gets its first events, and a replay of them: the %s',
  async (id) => {
    const secret = `secret of the ${id}`;
    const { db, keys } = gateway.deps.services;
    await db
      .transaction()
      .execute((tx) =>
        insertClient(
          tx,
          keys,
          { id, scopes: ['webhooks:manage'], grants: [{ emr: 'sandbox-no', care_units: ['oslo-sentrum'] }] },
          secret,
        ),
      );
    await gateway.deps.clients.refresh();
    const webhooks = webhooksOf(gateway, { id, secret });
    const endpoint = await webhooks.create(receiver.url, ['appointment.booked']);
    const from = new Date().toISOString();
    const booked = await book(gateway);
    await webhooks.ended(endpoint.id, 1);
    await webhooks.call('POST', `/${endpoint.id}/replay`, { from });
    const deliveries = await webhooks.ended(endpoint.id, 2);
    expect(deliveries.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect(receiver.accepted().map(({ data }) => data.appointment_id)).toContain(booked.id);
  },
);
