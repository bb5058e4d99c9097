import type { Static } from 'typebox';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { page, pagingQuery } from '../api/paging.ts';
import { reference, text } from '../api/schemas.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { inPath } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Endpoint } from './endpoint.ts';
import { changeEndpoint, createEndpoint, deleteEndpoint, rotateEndpointSecret } from './endpoint-actions.ts';
import { endpointBodies, endpointBody } from './endpoint-body.ts';
import {
  type EndpointBody,
  endpointChangeSchema,
  endpointCreationSchema,
  endpointListSchema,
  endpointSchema,
  newEndpointSchema,
  rotationSchema,
} from './endpoint-contract.ts';
import { findEndpoint, listEndpoints } from './endpoint-store.ts';

export const endpointParam = { webhook_endpoint_id: text({ description: 'Id of the endpoint.' }) };
export const endpointPath = '/webhook-endpoints/:webhook_endpoint_id';
export const endpointExample: EndpointBody = {
  id: '4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801',
  url: 'https://hooks.clinic.example/crossward',
  event_types: ['appointment.booked', 'appointment.updated', 'appointment.cancelled'],
  status: 'enabled',
  disabled_reason: null,
  previous_secret_expires_at: null,
  failing_since: null,
  replaying: false,
  created_at: '2026-03-19T12:00:00.000Z',
  subscription: null,
};
export const exampleParams = { webhook_endpoint_id: endpointExample.id };
const newExample = { ...endpointExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4tUjJ9mQhXk=' };

/** @throws Problem `webhook_endpoint_not_found` */
export async function requireEndpoint(db: Db | Tx, keys: KeyRing, clientId: string, id: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(db, keys, clientId, id);
  if (endpoint) return endpoint;
  const detail = 'The client has no webhook endpoint with this id.';
  throw problemAt(inPath('webhook_endpoint_id'), 'webhook_endpoint_not_found', detail);
}

/** As callers see it. @throws Problem `webhook_endpoint_not_found` */
export async function requireShown(db: Db | Tx, keys: KeyRing, clientId: string, id: string): Promise<EndpointBody> {
  const endpoint = await requireEndpoint(db, keys, clientId, id);
  const [body = endpointBody(endpoint)] = await endpointBodies(db, [endpoint]);
  return body;
}

const listWebhookEndpoints = endpoint({
  operationId: 'list_webhook_endpoints',
  tag: 'Webhooks',
  summary: 'List webhook endpoints',
  level: 'client',
  method: 'GET',
  path: '/webhook-endpoints',
  audit: 'none',
  scopes: ['webhooks:manage'],
  query: pagingQuery,
  response: { status: 200, description: 'The endpoints of the client, sorted by id.', schema: endpointListSchema },
  reasons: ['cursor_invalid'],
  examples: { response: { webhook_endpoints: [endpointExample], next_cursor: null } },
  async handle({ client, query, cursors, services: { db, keys } }) {
    const binding = { clientId: client.id, operationId: 'list_webhook_endpoints', filters: [] };
    const { entries, next_cursor } = await page(
      cursors,
      query,
      binding,
      ({ id }: Endpoint) => [id],
      (after, limit) => listEndpoints(db, keys, client.id, after && String(after[0]), limit),
    );
    return { body: { webhook_endpoints: await endpointBodies(db, entries), next_cursor } };
  },
});

const createWebhookEndpoint = endpoint({
  operationId: 'create_webhook_endpoint',
  tag: 'Webhooks',
  summary: 'Create a webhook endpoint',
  description: 'The response contains the secret, which is not shown again.',
  level: 'client',
  method: 'POST',
  path: '/webhook-endpoints',
  audit: 'none',
  scopes: ['webhooks:manage'],
  body: reference<Static<typeof endpointCreationSchema>>('WebhookEndpointCreation'),
  response: { status: 201, description: 'The endpoint with its secret.', schema: newEndpointSchema },
  reasons: ['webhook_url_rejected', 'webhook_endpoint_limit_reached'],
  examples: {
    body: { url: endpointExample.url, event_types: endpointExample.event_types },
    response: newExample,
  },
  async store(tx, { client, services: { keys }, webhooks, body: { url, event_types = null } }) {
    const made = { clientId: client.id, url, eventTypes: event_types };
    const endpoint = await createEndpoint(tx, keys, webhooks, made);
    const location = `/api/webhook-endpoints/${endpoint.id}`;
    return { body: { ...endpointBody(endpoint), secret: endpoint.secret }, headers: { location } };
  },
});

const getWebhookEndpoint = endpoint({
  operationId: 'get_webhook_endpoint',
  tag: 'Webhooks',
  summary: 'Get a webhook endpoint',
  level: 'client',
  method: 'GET',
  path: endpointPath,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  response: { status: 200, description: 'The endpoint.', schema: endpointSchema },
  reasons: ['webhook_endpoint_not_found'],
  examples: { params: exampleParams, response: endpointExample },
  handle: async ({ client, params, services: { db, keys } }) => ({
    body: await requireShown(db, keys, client.id, params.webhook_endpoint_id),
  }),
});

const changeWebhookEndpoint = endpoint({
  operationId: 'change_webhook_endpoint',
  tag: 'Webhooks',
  summary: 'Change a webhook endpoint',
  description: 'An endpoint that is enabled again misses the events in between. Replay them.',
  level: 'client',
  method: 'PATCH',
  path: endpointPath,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  body: reference<Static<typeof endpointChangeSchema>>('WebhookEndpointChange'),
  response: { status: 200, description: 'The endpoint.', schema: endpointSchema },
  reasons: ['webhook_endpoint_not_found', 'webhook_url_rejected'],
  examples: { params: exampleParams, body: { status: 'enabled' }, response: endpointExample },
  async store(tx, { client, params, body: { url, event_types, status }, services: { keys }, webhooks }) {
    const id = params.webhook_endpoint_id;
    await requireEndpoint(tx, keys, client.id, id);
    await changeEndpoint(tx, keys, webhooks, id, { url, eventTypes: event_types, status });
    return { body: await requireShown(tx, keys, client.id, id) };
  },
});

const deleteWebhookEndpoint = endpoint({
  operationId: 'delete_webhook_endpoint',
  tag: 'Webhooks',
  summary: 'Delete a webhook endpoint',
  level: 'client',
  method: 'DELETE',
  path: endpointPath,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  response: { status: 204, description: 'The endpoint and its deliveries are deleted.', schema: endpointSchema },
  reasons: ['webhook_endpoint_not_found'],
  examples: { params: exampleParams, response: undefined },
  async store(tx, { client, params, services: { keys } }) {
    const { id } = await requireEndpoint(tx, keys, client.id, params.webhook_endpoint_id);
    await deleteEndpoint(tx, id);
    return { body: {} };
  },
});

const rotateWebhookSecret = endpoint({
  operationId: 'rotate_webhook_secret',
  tag: 'Webhooks',
  summary: 'Rotate the secret of a webhook endpoint',
  description:
    'Deliveries are signed with both secrets until the previous one expires, or the next rotation. The response ' +
    'contains the new secret, which is not shown again.',
  level: 'client',
  method: 'POST',
  path: `${endpointPath}/secret`,
  audit: 'none',
  scopes: ['webhooks:manage'],
  params: endpointParam,
  body: reference<Static<typeof rotationSchema>>('WebhookSecretRotation'),
  response: { status: 200, description: 'The endpoint with its new secret.', schema: newEndpointSchema },
  reasons: ['webhook_endpoint_not_found'],
  examples: {
    params: exampleParams,
    body: { overlap_seconds: 86_400 },
    response: { ...newExample, previous_secret_expires_at: '2026-03-20T12:00:00.000Z' },
  },
  async store(tx, { client, params: { webhook_endpoint_id: id }, body: { overlap_seconds }, services: { keys } }) {
    await requireEndpoint(tx, keys, client.id, id);
    const secret = await rotateEndpointSecret(tx, keys, id, overlap_seconds);
    return { body: { ...(await requireShown(tx, keys, client.id, id)), secret } };
  },
});

export const webhookEndpoints: EndpointGroup = {
  schemas: [endpointSchema, newEndpointSchema, endpointCreationSchema, endpointChangeSchema, rotationSchema],
  endpoints: [
    listWebhookEndpoints,
    createWebhookEndpoint,
    getWebhookEndpoint,
    changeWebhookEndpoint,
    deleteWebhookEndpoint,
    rotateWebhookSecret,
  ],
};
