import type { FastifyRequest } from 'fastify';
import type { Db, Tx } from '../../db/kysely.ts';
import { Problem } from '../../problems/problem.ts';
import { findEndpoint, listEndpoints } from '../../webhooks/endpoint-store.ts';
import { accessOf } from '../face.ts';
import type { SubscribedEndpoint } from './show.ts';

/** @throws Problem `webhook_endpoint_not_found` also for one of another client or care unit */
export async function requireSubscription(
  db: Db | Tx,
  request: FastifyRequest,
  id: string,
): Promise<SubscribedEndpoint> {
  const { client, ehr, careUnit } = accessOf(request);
  const { keys } = request.server.endpointDeps.services;
  const found = await findEndpoint(db, keys, client.id, id);
  if (found && isOf(found, ehr.id, careUnit.id)) return found;
  throw new Problem('webhook_endpoint_not_found', { detail: 'No Subscription of the client has this id here.' });
}

function isOf(endpoint: Partial<SubscribedEndpoint>, emr: string, careUnitId: string): endpoint is SubscribedEndpoint {
  return endpoint.subscription?.emr === emr && endpoint.subscription.careUnitId === careUnitId;
}

/** The Subscriptions of the client at the care unit. */
export async function listSubscriptions(request: FastifyRequest): Promise<SubscribedEndpoint[]> {
  const { client, ehr, careUnit } = accessOf(request);
  const { db, keys } = request.server.endpointDeps.services;
  // An operator may have lowered the limit since they were made.
  const all = await listEndpoints(db, keys, client.id, undefined, 10_000);
  return all.filter((it) => isOf(it, ehr.id, careUnit.id));
}
