import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book } from '../../../test/requests/bookings.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../test/requests/webhook-receiver.ts';
import type { Configuration } from '../config/configuration.ts';

/** As a file before the client got its grant, the EHR or its id. */
const before: Readonly<Record<string, (configuration: Configuration) => Configuration>> = {
  grant: ({ clients, ...more }) => ({
    ...more,
    clients: clients.map((client) => ({ ...client, grants: client.grants.filter(({ emr }) => emr !== 'sandbox-no') })),
  }),
  client: ({ clients, ...more }) => ({ ...more, clients: clients.slice(0, 0) }),
  EHR: ({ clients, emrs, ...more }) => ({
    ...more,
    clients: clients.map((client) => ({ ...client, grants: client.grants.filter(({ emr }) => emr !== 'sandbox-no') })),
    emrs: emrs.filter(({ id }) => id !== 'sandbox-no'),
  }),
};

const gateway = await startGateway({ configure: withQuickWebhooks });
const receiver = await startReceiver();
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

// Which of the gateways publishes and delivers is left to chance, so there are several events.
test.for(Object.entries(before))(
  'beside a gateway that does not have the new %s yet, every event is delivered',
  async ([, withoutIt]) => {
    const older = await startGateway({
      configure: (configuration) => withoutIt(withQuickWebhooks(configuration)),
      beside: gateway,
    });
    const webhooks = webhooksOf(gateway);
    const endpoint = await webhooks.create(receiver.url, ['appointment.booked']);
    try {
      for (let count = 1; count <= 5; count++) {
        await book(gateway);
        await webhooks.ended(endpoint.id, count);
      }
      const deliveries = await webhooks.ended(endpoint.id, 5);
      expect(deliveries.map(({ status }) => status)).toEqual(Array(5).fill('delivered'));
    } finally {
      await older.close();
      await webhooks.call('DELETE', `/${endpoint.id}`);
    }
  },
);
