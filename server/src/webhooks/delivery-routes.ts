import type { Static } from 'typebox';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { page } from '../api/paging.ts';
import { reference, text } from '../api/schemas.ts';
import { redeliverEvent, replayEvents, sendTestEvent } from './delivery-actions.ts';
import { type Delivery, listDeliveries } from './delivery-store.ts';
import { lockEnabledEndpoint } from './endpoint-actions.ts';
import { deliveryBody } from './endpoint-body.ts';
import {
  type DeliveryBody,
  deliveryListSchema,
  deliveryQuery,
  deliverySchema,
  endpointSchema,
  replaySchema,
  testEventSchema,
} from './endpoint-contract.ts';
import {
  endpointExample,
  endpointParam,
  endpointPath,
  exampleParams,
  requireEndpoint,
  requireShown,
} from './endpoint-routes.ts';
import { countReplay } from './replay.ts';

const deliveryExample: DeliveryBody = {
  id: '7d8c6a54-1b1e-4f7a-a3e0-2a9f6d1c4b90',
  event_id: '0b54f1c6-8c0c-4f2e-9a3a-3f3d1e7b9c11',
  event_type: 'appointment.updated',
  status: 'pending',
  attempts: 2,
  created_at: '2026-03-19T12:00:00.000Z',
  last_attempt_at: '2026-03-19T12:00:05.000Z',
  next_attempt_at: '2026-03-19T12:00:35.000Z',
  completed_at: null,
  response_status: 503,
  reason: 'status',
};

const testWebhookEndpoint = endpoint({
  operationId: 'test_webhook_endpoint',
  tag: 'Webhooks',
  summary: 'Send a test event',
  level: 'client',
  method: 'POST',
  path: `${endpointPath}/test`,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  response: { status: 202, description: 'The event will be delivered.', schema: testEventSchema },
  reasons: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled'],
  examples: { params: exampleParams, response: { event_id: deliveryExample.event_id } },
  async store(tx, { client, params: { webhook_endpoint_id: id }, services: { keys } }) {
    await requireEndpoint(tx, keys, client.id, id);
    const [emr = ''] = client.grants.keys();
    return { body: { event_id: await sendTestEvent(tx, id, emr) } };
  },
});

const replay = endpoint({
  operationId: 'replay_events',
  tag: 'Webhooks',
  summary: 'Replay the events of a webhook endpoint',
  description:
    'Delivers every event since a time again, in order, with the same ids. Events that were deleted at the end of their ' +
    'retention are not delivered. An endpoint can have one replay at a time and four within an hour.',
  level: 'client',
  method: 'POST',
  path: `${endpointPath}/replay`,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  body: reference<Static<typeof replaySchema>>('WebhookReplay'),
  response: { status: 202, description: 'The replay has started.', schema: endpointSchema },
  reasons: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled'],
  examples: {
    params: exampleParams,
    body: { from: '2026-03-19T00:00:00Z' },
    response: { ...endpointExample, replaying: true },
  },
  async store(tx, { client, params: { webhook_endpoint_id: id }, body, services: { keys } }) {
    await requireEndpoint(tx, keys, client.id, id);
    await lockEnabledEndpoint(tx, id);
    await countReplay(tx, id);
    await replayEvents(tx, id, new Date(body.from));
    return { body: await requireShown(tx, keys, client.id, id) };
  },
});

const listWebhookDeliveries = endpoint({
  operationId: 'list_webhook_deliveries',
  tag: 'Webhooks',
  summary: 'List deliveries',
  level: 'client',
  method: 'GET',
  path: `${endpointPath}/deliveries`,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  query: deliveryQuery,
  response: { status: 200, description: 'Deliveries to the endpoint, newest first.', schema: deliveryListSchema },
  reasons: ['webhook_endpoint_not_found', 'cursor_invalid'],
  examples: { params: exampleParams, response: { deliveries: [deliveryExample], next_cursor: null } },
  async handle({ client, params, query, cursors, services: { db, keys } }) {
    const { id } = await requireEndpoint(db, keys, client.id, params.webhook_endpoint_id);
    const { status: state } = query;
    const binding = { clientId: client.id, operationId: 'list_webhook_deliveries', filters: [id, state ?? null] };
    const { entries, next_cursor } = await page(
      cursors,
      query,
      binding,
      ({ sequence }: Delivery) => [sequence],
      (after, limit) => listDeliveries(db, id, { state, before: after && Number(after[0]), limit }),
    );
    return { body: { deliveries: entries.map(deliveryBody), next_cursor } };
  },
});

const redeliver = endpoint({
  operationId: 'redeliver_event',
  tag: 'Webhooks',
  summary: 'Redeliver an event',
  description:
    'Creates a new delivery of the event. If a delivery of the event is pending, its next attempt is made at once instead.',
  level: 'client',
  method: 'POST',
  path: `${endpointPath}/deliveries/:webhook_delivery_id/redeliver`,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: { ...endpointParam, webhook_delivery_id: text({ description: 'Id of a delivery.' }) },
  response: { status: 202, description: 'The delivery.', schema: deliverySchema },
  reasons: ['webhook_endpoint_not_found', 'webhook_delivery_not_found', 'webhook_endpoint_disabled'],
  examples: {
    params: { ...exampleParams, webhook_delivery_id: deliveryExample.id },
    response: deliveryExample,
  },
  async store(tx, { client, params, services: { keys } }) {
    const { id } = await requireEndpoint(tx, keys, client.id, params.webhook_endpoint_id);
    return { body: deliveryBody(await redeliverEvent(tx, id, params.webhook_delivery_id)) };
  },
});

export const deliveryEndpoints: EndpointGroup = {
  schemas: [deliverySchema, replaySchema, testEventSchema],
  endpoints: [testWebhookEndpoint, replay, listWebhookDeliveries, redeliver],
};
