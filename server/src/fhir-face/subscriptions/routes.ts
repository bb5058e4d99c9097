import type { Bundle, Subscription } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import { type AnyEndpoint, endpoint } from '../../api/endpoint.ts';
import type { Tx } from '../../db/kysely.ts';
import { Problem, problemAt } from '../../problems/problem.ts';
import { createEndpoint, deleteEndpoint, setStatus } from '../../webhooks/endpoint-actions.ts';
import { lockRow, sealUrl, updateEndpoint } from '../../webhooks/endpoint-store.ts';
import { changedColumns } from '../../webhooks/subscription-columns.ts';
import { writeHandshake } from '../../webhooks/write-test-event.ts';
import type { WriteResponse } from '../../writes/write-kind.ts';
import { assertUnconditional, conditionFault, keyOfOther } from '../conditions.ts';
import { accessOf, baseOf, facePath, faceRepresentation } from '../face.ts';
import { invalid, unprocessable } from '../from-fhir/faults.ts';
import {
  common,
  fhirRead,
  fhirSearch,
  idInPath,
  jsonMediaTypes,
  namesAppointments,
  okResponse,
} from '../interaction.ts';
import { allFine } from '../operation-outcome.ts';
import { etagOf, preferenceOf } from '../preferences.ts';
import { searchSet } from '../search/bundle.ts';
import { anyOf, codesOf, readSearch } from '../search/input.ts';
import { pagesById } from '../search/pages.ts';
import { placeOf } from '../search/place.ts';
import { namesVersion } from '../versions.ts';
import { subscriptionOperations } from './operations.ts';
import { readSubscription } from './read-subscription.ts';
import { toSubscription } from './show.ts';
import { listSubscriptions, requireSubscription } from './store.ts';
import { topicInteractions } from './topic-resources.ts';

/** Subscription: https://hl7.org/fhir/R4/subscription.html. Each is a webhook endpoint of its client, of one care unit. */
const type = 'Subscription';
const declared = { scopes: ['webhooks:manage'], audit: 'none' } as const;

async function read(request: FastifyRequest, id: string): Promise<Subscription> {
  return toSubscription(await requireSubscription(request.server.endpointDeps.services.db, request, id));
}

async function search(request: FastifyRequest): Promise<Bundle> {
  const search = readSearch(request, ['_id', 'criteria', 'status', 'url', 'type']);
  const [ids, criteria, urls] = (['_id', 'criteria', 'url'] as const).map((name) => anyOf(search, name));
  const statuses = codesOf(search, 'status', 'http://hl7.org/fhir/subscription-status');
  const channels = codesOf(search, 'type', 'http://hl7.org/fhir/subscription-channel-type');
  const matches = ({ id, criteria: own, status, channel }: Subscription) =>
    (!ids || ids.includes(id ?? '')) &&
    (!criteria || criteria.some((it) => own?.startsWith(it))) &&
    (!statuses || statuses.includes(status ?? '')) &&
    (!urls || urls.includes(channel?.endpoint ?? '')) &&
    (!channels || channels.includes(channel?.type ?? ''));
  const place = placeOf(request, type, search);
  type Found = Subscription & { readonly id: string };
  const load = async () => (await listSubscriptions(request)).map(toSubscription).filter(matches) as Found[];
  return searchSet<Found, Subscription>(search, place, { page: pagesById(request, place, load), show: (it) => it });
}

interface StoredWrite {
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: '' | '/:id';
  readonly status: 200 | 201 | 204;
  store(tx: Tx, request: FastifyRequest, id: string, body: unknown): Promise<WriteResponse>;
}

function stored({ name, method, path, status, store }: StoredWrite): AnyEndpoint {
  const params: TProperties = path === '' ? {} : idInPath;
  return endpoint({
    ...{ ...common, ...declared, operationId: name, method, path: `${facePath}/${type}${path}` },
    params,
    ...(method === 'DELETE' ? {} : { body: Type.Unknown() }),
    response: { ...okResponse, status },
    representation: {
      ...faceRepresentation(type),
      ...(method === 'DELETE' ? {} : { consumes: jsonMediaTypes }),
      keyOf(request) {
        if (request.headers['if-none-exist'] === undefined) return keyOfOther(request);
        throw conditionFault('A Subscription has no If-None-Exist. Send Idempotency-Key.', 'not-supported');
      },
      async show({ body, ...response }, request) {
        const preference = preferenceOf(request, 'return');
        if (status === 204 || preference === 'minimal') return response;
        if (preference !== 'OperationOutcome') return { ...response, body };
        return { ...response, body: allFine(`The Subscription is ${(body as Subscription).status}.`, request.lost) };
      },
    },
    async store(tx, input, request) {
      assertUnconditional(request);
      return store(tx, request, String(input.params.id), input.body);
    },
  });
}

/** The Subscription as it is now. */
async function shown(
  tx: Tx,
  request: FastifyRequest,
  id: string,
): Promise<Required<Pick<WriteResponse, 'body' | 'headers'>>> {
  const body = toSubscription(await requireSubscription(tx, request, id));
  return { body, headers: { etag: etagOf(body.meta?.versionId) } };
}

async function create(tx: Tx, request: FastifyRequest, _id: string, body: unknown): Promise<WriteResponse> {
  // Before somebody waits for notifications that could name no Appointment.
  if (!namesAppointments(accessOf(request).ehr)) {
    throw new Problem('operation_unsupported', {
      detail: 'The ids of appointments of this EHR are too long for FHIR.',
    });
  }
  const { status, ...wish } = readSubscription(request, body);
  if (status !== 'requested' && status !== 'active') {
    throw unprocessable(
      '/status',
      'A new Subscription is requested. It is active once its endpoint has accepted a handshake.',
    );
  }
  const { webhooks, services } = request.server.endpointDeps;
  const { id } = await createEndpoint(tx, services.keys, webhooks, { clientId: accessOf(request).client.id, ...wish });
  const { body: made, headers } = await shown(tx, request, id);
  const version = (made as Subscription).meta?.versionId;
  return { body: made, headers: { ...headers, location: `${baseOf(request)}/${type}/${id}/_history/${version}` } };
}

async function update(tx: Tx, request: FastifyRequest, id: string, body: unknown): Promise<WriteResponse> {
  const found = await requireSubscription(tx, request, id).catch(asUnknown);
  await lockRow(tx, found.id);
  const before = await requireSubscription(tx, request, id).catch(asUnknown);
  assertVersion(request, toSubscription(before));
  const { keys } = request.server.endpointDeps.services;
  const { status, url, eventTypes, subscription } = readSubscription(request, body, before.subscription);
  if ((body as Subscription).id !== id) throw invalid('/id', 'The id must be the one in the path.');
  const now = toSubscription(before).status;
  if (status === 'error' && now !== 'error') throw unprocessable('/status', 'Only the gateway notes an error.');
  await updateEndpoint(tx, id, {
    ...{ sealed_url: sealUrl(keys, id, url, 'subscription url'), event_types: [...eventTypes] },
    ...changedColumns(keys, id, subscription),
  });
  if (status === 'off') await setStatus(tx, id, 'disabled');
  else if (status !== 'error') await setStatus(tx, id, 'enabled');
  // One that was disabled has a new handshake already.
  const isAsked = status === 'requested' || (status === 'active' && url !== before.url);
  if (before.disabledReason === null && isAsked) await writeHandshake(tx, id);
  return shown(tx, request, id);
}

/** https://hl7.org/fhir/R4/http.html#upsert: clients choose no ids. */
function asUnknown(error: unknown): never {
  if (!(error instanceof Problem) || error.reason !== 'webhook_endpoint_not_found') throw error;
  const detail = 'No Subscription has this id, and clients cannot choose ids. Create one with POST.';
  throw new Problem('method_not_allowed', { detail, headers: { allow: 'GET, HEAD' } });
}

/** https://hl7.org/fhir/R4/http.html#concurrency */
function assertVersion({ headers }: FastifyRequest, { meta }: Subscription): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || namesVersion(wanted, meta?.versionId)) return;
  throw problemAt({ in: 'header', header: 'if-match' }, 'version_outdated', 'The Subscription has another version.');
}

async function remove(tx: Tx, request: FastifyRequest, id: string): Promise<WriteResponse> {
  await requireSubscription(tx, request, id);
  await deleteEndpoint(tx, id);
  return { body: {} };
}

export const subscriptionInteractions: readonly AnyEndpoint[] = [
  fhirRead(type, { name: 'fhir_read_subscription', ...declared }, read),
  ...fhirSearch(type, { name: 'fhir_search_subscription', ...declared }, search),
  stored({ name: 'fhir_create_subscription', method: 'POST', path: '', status: 201, store: create }),
  stored({ name: 'fhir_update_subscription', method: 'PUT', path: '/:id', status: 200, store: update }),
  stored({ name: 'fhir_delete_subscription', method: 'DELETE', path: '/:id', status: 204, store: remove }),
  ...subscriptionOperations,
  ...topicInteractions,
];
