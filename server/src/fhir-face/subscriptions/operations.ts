import type { Bundle, BundleEntry } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import { type AnyEndpoint, endpoint } from '../../api/endpoint.ts';
import { type Fault, Problem } from '../../problems/problem.ts';
import { statusOfSubscription } from '../../webhooks/endpoint.ts';
import { type CountedEvent, countEvents, oldestNumber, readCountedEvents } from '../../webhooks/subscription-events.ts';
import { baseOf, facePath, faceRepresentation } from '../face.ts';
import { parametersSchema } from '../from-fhir/schemas.ts';
import { common, idInPath, jsonMediaTypes, okResponse } from '../interaction.ts';
import { checked } from '../native.ts';
import { parametersOf } from '../search/parameters.ts';
import { type Notified, notificationBundle, statusParameters } from './notification.ts';
import type { SubscribedEndpoint } from './show.ts';
import { listSubscriptions, requireSubscription } from './store.ts';

/** An operation that reads, by GET with a query and by POST with Parameters: https://hl7.org/fhir/R4/operations.html#executing */
function reading(
  name: string,
  path: `${'/:id' | ''}/$${string}`,
  read: (request: FastifyRequest, id: string) => Promise<Bundle>,
): AnyEndpoint[] {
  const params: TProperties = path.startsWith('/:id') ? idInPath : {};
  const declared = {
    ...common,
    operationId: name,
    path: `${facePath}/Subscription${path}`,
    scopes: ['webhooks:manage'],
    audit: 'none',
    params,
    response: okResponse,
  } as const;
  const representation = faceRepresentation('Parameters');
  const handle = async (_input: object, request: FastifyRequest) => {
    const { id = '' } = request.params as { readonly id?: string };
    return { body: await read(request, id) };
  };
  return [
    endpoint({ ...declared, method: 'GET', representation, handle }),
    endpoint({
      ...declared,
      method: 'POST',
      body: Type.Unknown(),
      representation: { ...representation, consumes: jsonMediaTypes },
      handle,
    }),
  ];
}

/** The values of a parameter, in a query or in Parameters. */
function valuesOf(request: FastifyRequest, wanted: string): string[] {
  const inQuery = parametersOf({ query: request.query, body: {} });
  const body = request.body ? checked(request, parametersSchema, request.body) : {};
  const inBody = ((body as { parameter?: readonly Record<string, unknown>[] }).parameter ?? []).map((it) => {
    const [, value = ''] = Object.entries(it).find(([name]) => name.startsWith('value')) ?? [];
    return [String(it.name), String(value)] as const;
  });
  const found = [...inQuery, ...inBody].filter(([name]) => name === wanted);
  return found.flatMap(([, value]) => value.split(','));
}

function notifiedOf(request: FastifyRequest, { id, disabledReason, subscription }: SubscribedEndpoint): Notified {
  const status = statusOfSubscription(disabledReason, subscription);
  return { id, subscription, status, publicUrl: request.server.endpointDeps.publicUrl() };
}

/** https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/OperationDefinition-backport-subscription-status.html */
async function statusOf(request: FastifyRequest, found: readonly SubscribedEndpoint[], id?: string): Promise<Bundle> {
  const { db } = request.server.endpointDeps.services;
  const ids = found.map(({ id }) => id);
  const totals = await countEvents(db, ids);
  const entry = found.map((it): BundleEntry => {
    const resource = statusParameters(notifiedOf(request, it), 'query-status', totals.get(it.id) ?? 0);
    return { fullUrl: `urn:uuid:${resource.id}`, resource, search: { mode: 'match' } };
  });
  const path = id === undefined ? '$status' : `${id}/$status`;
  const link = [{ relation: 'self', url: `${baseOf(request)}/Subscription/${path}` }];
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    total: entry.length,
    link,
    ...(entry.length > 0 ? { entry } : {}),
  };
}

async function statusOfMany(request: FastifyRequest): Promise<Bundle> {
  const [ids, statuses] = ['id', 'status'].map((name) => valuesOf(request, name)) as [string[], string[]];
  const found = (await listSubscriptions(request)).filter(
    ({ id, disabledReason, subscription }) =>
      (ids.length === 0 || ids.includes(id)) &&
      (statuses.length === 0 || statuses.includes(statusOfSubscription(disabledReason, subscription))),
  );
  return statusOf(request, found);
}

/** More are asked for with bounds. */
const mostEvents = 500;

/** https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/OperationDefinition-backport-subscription-events.html */
async function eventsOf(request: FastifyRequest, id: string): Promise<Bundle> {
  const { db } = request.server.endpointDeps.services;
  const found = await requireSubscription(db, request, id);
  const oldest = await oldestNumber(db, id);
  const since = Math.max(readNumber(request, 'eventsSinceNumber') ?? oldest ?? 1, 1);
  const until = readNumber(request, 'eventsUntilNumber') ?? Number.MAX_SAFE_INTEGER;
  const total = (await countEvents(db, [id])).get(id) ?? 0;
  if (since < (oldest ?? total + 1) && since <= total) {
    throw fault(
      'eventsSinceNumber',
      `The oldest event that is stored is ${oldest ?? total + 1}. Read the Appointments.`,
    );
  }
  const events = await readCountedEvents(db, id, { since, until, limit: mostEvents + 1 });
  if (events.length > mostEvents) {
    throw fault('eventsUntilNumber', `At most ${mostEvents} events are sent. Ask for fewer.`, 'search_too_costly');
  }
  const notified = notifiedOf(request, found);
  const told = events.map((event: CountedEvent) => ({ number: event.number, event }));
  return notificationBundle(inContent(notified, valuesOf(request, 'content')[0]), 'query-event', total, told);
}

/** A client can ask for less. */
function inContent(notified: Notified, content: string | undefined): Notified {
  const { subscription } = notified;
  if (content !== 'empty' && content !== 'id-only') return notified;
  return { ...notified, subscription: { ...subscription, details: { ...subscription.details, content } } };
}

function readNumber(request: FastifyRequest, name: string): number | undefined {
  const [value] = valuesOf(request, name);
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw fault(name, `${name} must be a whole number.`);
}

function fault(name: string, detail: string, reason: Fault['reason'] = 'request_invalid'): Problem {
  const place = { in: 'query', parameter: name } as const;
  return new Problem(reason, { detail, faults: [{ place, reason, detail }] });
}

export const subscriptionOperations: readonly AnyEndpoint[] = [
  ...reading('fhir_status_subscription', '/$status', statusOfMany),
  ...reading('fhir_status_subscription', '/:id/$status', async (request, id) =>
    statusOf(request, [await requireSubscription(request.server.endpointDeps.services.db, request, id)], id),
  ),
  ...reading('fhir_events_subscription', '/:id/$events', eventsOf),
];
