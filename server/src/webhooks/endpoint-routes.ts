import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import { type Cursors, page, pagingQuery } from '../api/paging.ts';
import { inBody, inPath } from '../api/places.ts';
import { addOperation } from '../api/route.ts';
import { reference, text } from '../api/schemas.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type AddressRules, urlMistake } from './address-rules.ts';
import type { Endpoint } from './endpoint.ts';
import { endpointBody } from './endpoint-body.ts';
import {
  type EndpointBody,
  endpointChangeSchema,
  endpointCreationSchema,
  endpointListSchema,
  endpointSchema,
  newEndpointSchema,
  rotationSchema,
} from './endpoint-contract.ts';
import {
  deleteEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  sealSecret,
  sealUrl,
  updateEndpoint,
} from './endpoint-store.ts';
import { failPending } from './settle-delivery.ts';
import { makeSecret } from './signing.ts';

export interface EndpointDependencies {
  readonly cursors: Cursors;
  readonly db: Db;
  readonly keys: KeyRing;
  readonly settings: Configuration['webhooks'];
}

export const endpointParam = { webhook_endpoint_id: text({ description: 'Id of the endpoint.' }) };
export const endpointPath = '/webhook-endpoints/:webhook_endpoint_id';
export const endpointExample: EndpointBody = {
  id: '4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801',
  url: 'https://hooks.clinic.example/crossward',
  event_types: ['appointment.booked', 'appointment.updated', 'appointment.cancelled'],
  status: 'enabled',
  disabled_reason: null,
  previous_secret_expires_at: null,
  replaying: false,
  created_at: '2026-03-19T12:00:00.000Z',
};
export const exampleParams = { webhook_endpoint_id: endpointExample.id };
const newExample = { ...endpointExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4tUjJ9mQhXk=' };

/** @throws Problem `webhook_endpoint_not_found` */
export async function requireEndpoint(db: Db | Tx, keys: KeyRing, clientId: string, id: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(db, keys, clientId, id);
  if (endpoint) return endpoint;
  throw notFound();
}

/**
 * Locks an endpoint until the end of the transaction, so that no other request changes it meanwhile.
 *
 * @throws Problem `webhook_endpoint_not_found`
 */
export async function lockEndpoint(tx: Tx, keys: KeyRing, clientId: string, id: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(tx, keys, clientId, id, true);
  if (endpoint) return endpoint;
  throw notFound();
}

function notFound(): Problem {
  const detail = 'The client has no webhook endpoint with this id.';
  return problemAt(inPath('webhook_endpoint_id'), 'webhook_endpoint_not_found', detail);
}

function assertAllowed(url: string, rules: AddressRules): void {
  const mistake = urlMistake(url, rules);
  if (mistake !== undefined) throw problemAt(inBody('url'), 'webhook_url_rejected', mistake);
}

/** The endpoints of a client. */
export function addEndpointRoutes(app: FastifyInstance, { cursors, db, keys, settings }: EndpointDependencies): void {
  app.addSchema(endpointSchema);
  app.addSchema(newEndpointSchema);
  app.addSchema(endpointCreationSchema);
  app.addSchema(endpointChangeSchema);
  app.addSchema(rotationSchema);

  addOperation(app, {
    operationId: 'list_webhook_endpoints',
    tag: 'Webhooks',
    summary: 'List webhook endpoints',
    level: 'client',
    method: 'GET',
    path: '/webhook-endpoints',
    scopes: ['webhooks:manage'],
    query: pagingQuery,
    response: { status: 200, description: 'The endpoints of the client, sorted by id.', schema: endpointListSchema },
    reasons: ['cursor_invalid'],
    examples: { response: { webhook_endpoints: [endpointExample], next_cursor: null } },
    async handle({ client, query }) {
      const binding = { clientId: client.id, operationId: 'list_webhook_endpoints', filters: [] };
      const { entries, next_cursor } = await page(
        cursors,
        query,
        binding,
        ({ id }: Endpoint) => [id],
        (after, limit) => listEndpoints(db, keys, client.id, after && String(after[0]), limit),
      );
      return { body: { webhook_endpoints: entries.map(endpointBody), next_cursor } };
    },
  });

  addOperation(app, {
    operationId: 'create_webhook_endpoint',
    tag: 'Webhooks',
    summary: 'Create a webhook endpoint',
    description: 'The response contains the secret, which is not shown again.',
    level: 'client',
    method: 'POST',
    path: '/webhook-endpoints',
    scopes: ['webhooks:manage'],
    body: reference<Static<typeof endpointCreationSchema>>('WebhookEndpointCreation'),
    response: { status: 201, description: 'The endpoint with its secret.', schema: newEndpointSchema },
    reasons: ['webhook_url_rejected', 'webhook_endpoint_limit_reached'],
    examples: {
      body: { url: endpointExample.url, event_types: endpointExample.event_types },
      response: newExample,
    },
    async handle({ client, body: { url, event_types = null }, transact }) {
      assertAllowed(url, settings);
      const secret = makeSecret();
      return transact(async (tx) => {
        const made = { clientId: client.id, url, secret, eventTypes: event_types };
        const endpoint = await insertEndpoint(tx, keys, made, settings.max_endpoints);
        if (!endpoint) throw new Problem('webhook_endpoint_limit_reached');
        const location = `/api/webhook-endpoints/${endpoint.id}`;
        return { body: { ...endpointBody(endpoint), secret }, headers: { location } };
      });
    },
  });

  addOperation(app, {
    operationId: 'get_webhook_endpoint',
    tag: 'Webhooks',
    summary: 'Get a webhook endpoint',
    level: 'client',
    method: 'GET',
    path: endpointPath,
    scopes: ['webhooks:manage'],
    params: endpointParam,
    response: { status: 200, description: 'The endpoint.', schema: endpointSchema },
    reasons: ['webhook_endpoint_not_found'],
    examples: { params: exampleParams, response: endpointExample },
    handle: async ({ client, params }) => ({
      body: endpointBody(await requireEndpoint(db, keys, client.id, params.webhook_endpoint_id)),
    }),
  });

  addOperation(app, {
    operationId: 'change_webhook_endpoint',
    tag: 'Webhooks',
    summary: 'Change a webhook endpoint',
    description: 'An endpoint that is enabled again gets later events. Replay those that it has missed.',
    level: 'client',
    method: 'PATCH',
    path: endpointPath,
    scopes: ['webhooks:manage'],
    params: endpointParam,
    body: reference<Static<typeof endpointChangeSchema>>('WebhookEndpointChange'),
    response: { status: 200, description: 'The endpoint.', schema: endpointSchema },
    reasons: ['webhook_endpoint_not_found', 'webhook_url_rejected'],
    examples: { params: exampleParams, body: { status: 'enabled' }, response: endpointExample },
    async handle({ client, params: { webhook_endpoint_id: id }, body: { url, event_types, status }, transact }) {
      if (url !== undefined) assertAllowed(url, settings);
      return transact(async (tx) => {
        const { disabledReason } = await lockEndpoint(tx, keys, client.id, id);
        await updateEndpoint(tx, id, {
          ...(url === undefined ? {} : { sealed_url: sealUrl(keys, id, url) }),
          ...(event_types === undefined ? {} : { event_types }),
          ...(status === 'enabled' ? { disabled_reason: null } : {}),
          ...(status === 'disabled'
            ? { disabled_reason: disabledReason ?? 'client', replay_after: null, replay_until: null }
            : {}),
        });
        if (status === 'disabled') await failPending(tx, id);
        return { body: endpointBody(await requireEndpoint(tx, keys, client.id, id)) };
      });
    },
  });

  addOperation(app, {
    operationId: 'delete_webhook_endpoint',
    tag: 'Webhooks',
    summary: 'Delete a webhook endpoint',
    level: 'client',
    method: 'DELETE',
    path: endpointPath,
    scopes: ['webhooks:manage'],
    params: endpointParam,
    response: { status: 204, description: 'The endpoint and its deliveries are deleted.', schema: endpointSchema },
    reasons: ['webhook_endpoint_not_found'],
    examples: { params: exampleParams, response: undefined },
    handle: ({ client, params, transact }) =>
      transact(async (tx) => {
        if (!(await deleteEndpoint(tx, client.id, params.webhook_endpoint_id))) throw notFound();
        return { body: {} };
      }),
  });

  addOperation(app, {
    operationId: 'rotate_webhook_secret',
    tag: 'Webhooks',
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Deliveries are signed with both secrets until the previous one expires, or the next rotation. The response ' +
      'contains the new secret, which is not shown again.',
    level: 'client',
    method: 'POST',
    path: `${endpointPath}/secret`,
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
    handle: ({ client, params: { webhook_endpoint_id: id }, body: { overlap_seconds = 86_400 }, transact }) =>
      transact(async (tx) => {
        const { secret: previous } = await lockEndpoint(tx, keys, client.id, id);
        const secret = makeSecret();
        await updateEndpoint(tx, id, {
          sealed_secret: sealSecret(keys, id, secret),
          sealed_previous_secret: sealSecret(keys, id, previous),
          previous_secret_expires_at: sql<Date>`now() + make_interval(secs => ${overlap_seconds})`,
        });
        return { body: { ...endpointBody(await requireEndpoint(tx, keys, client.id, id)), secret } };
      }),
  });
}
