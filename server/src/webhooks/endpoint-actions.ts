import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import { type AddressRules, urlMistake } from '../ehr/guard/address-rules.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { inBody } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Endpoint } from './endpoint.ts';
import {
  findEndpoint,
  insertEndpoint,
  type LockedRow,
  lockRow,
  sealPrevious,
  sealSecret,
  sealUrl,
  updateEndpoint,
} from './endpoint-store.ts';
import { failPending } from './settle-delivery.ts';
import { makeSecret } from './signing.ts';
import type { NewSubscription } from './subscription-columns.ts';
import { writeHandshake } from './write-test-event.ts';

// Each action on an endpoint is one function here or in delivery-actions.ts. The API, the command line and the console call
// it in a transaction of theirs, and check before whose endpoint it is.

/** How long deliveries are also signed with the previous secret, in seconds. */
export const overlap = { usual: 86_400, longest: 604_800 } as const;

/** Previous secrets that sign too. */
const mostPrevious = 5;

export interface EndpointRules extends AddressRules {
  /** Endpoints that a client can have. */
  readonly max_endpoints: number;
}

interface NewEndpoint {
  /** Default: a new one. */
  readonly id?: string | undefined;
  readonly clientId: string;
  readonly url: string;
  /** `null`: all. */
  readonly eventTypes: readonly string[] | null;
  readonly subscription?: NewSubscription;
}

/**
 * Creates an endpoint with a new secret.
 *
 * @throws Problem `webhook_url_rejected`, `webhook_endpoint_limit_reached`
 */
export async function createEndpoint(
  tx: Tx,
  keys: KeyRing,
  rules: EndpointRules,
  { url, ...rest }: NewEndpoint,
): Promise<Endpoint> {
  assertAllowed(url, rules);
  const endpoint = await insertEndpoint(tx, keys, { ...rest, url, secret: makeSecret() }, rules.max_endpoints);
  if (!endpoint) throw new Problem('webhook_endpoint_limit_reached');
  if (rest.subscription) await writeHandshake(tx, endpoint.id);
  return endpoint;
}

export interface EndpointChange {
  readonly url?: string | undefined;
  /** `null`: all. */
  readonly eventTypes?: readonly string[] | null | undefined;
  /** `disabled` ends its pending deliveries and a replay. */
  readonly status?: 'enabled' | 'disabled' | undefined;
}

/**
 * Changes what is given.
 *
 * @throws Problem `webhook_endpoint_not_found`, `webhook_url_rejected`, `request_invalid` for the types of a Subscription
 */
export async function changeEndpoint(
  tx: Tx,
  keys: KeyRing,
  rules: AddressRules,
  id: string,
  { url, eventTypes, status }: EndpointChange,
): Promise<void> {
  if (url !== undefined) assertAllowed(url, rules);
  const { isSubscription, ...before } = await lockEndpoint(tx, id);
  const isSame = eventTypes === undefined || String(eventTypes?.toSorted()) === String(before.eventTypes?.toSorted());
  if (isSubscription && !isSame) throw problemAt(inBody('event_types'), 'request_invalid', typesOfSubscription);
  await updateEndpoint(tx, id, {
    ...(url === undefined ? {} : { sealed_url: sealUrl(keys, id, url, isSubscription ? 'subscription url' : 'url') }),
    ...(eventTypes === undefined ? {} : { event_types: eventTypes && [...eventTypes] }),
  });
  if (isSubscription && url !== undefined) await writeHandshake(tx, id);
  if (status !== undefined) await setStatus(tx, id, status);
}

const typesOfSubscription =
  'The criteria of a Subscription say which types it gets. Change them at the FHIR base URL of its care unit.';

/**
 * Enables or disables an endpoint. One that is disabled loses its pending deliveries and its replay. A
 * Subscription that is enabled begins with a handshake.
 *
 * @throws Problem `webhook_endpoint_not_found`
 */
export async function setStatus(tx: Tx, id: string, status: 'enabled' | 'disabled'): Promise<void> {
  const { disabledReason, isSubscription } = await lockEndpoint(tx, id);
  if (status === 'enabled') {
    // Of events that were published while it was being disabled.
    if (disabledReason !== null) await failPending(tx, id);
    if (disabledReason !== null && isSubscription) await writeHandshake(tx, id);
    return updateEndpoint(tx, id, { disabled_reason: null });
  }
  await updateEndpoint(tx, id, { disabled_reason: disabledReason ?? 'client', replay_after: null, replay_until: null });
  await failPending(tx, id);
}

/** Disables the endpoints of a client, and ends their deliveries. */
export async function disableEndpointsOf(tx: Tx, clientId: string): Promise<void> {
  const endpoints = await tx.selectFrom('webhook_endpoints').select('id').where('client_id', '=', clientId).execute();
  for (const { id } of endpoints) await setStatus(tx, id, 'disabled');
}

/**
 * Gives an endpoint a new secret, and returns it. Deliveries are also signed with the previous one for a time, and with those
 * before it until their own ends: if the answer of a rotation was lost, another one does not end the secret that the receiver
 * has. Beyond five, the one that is replaced ends at once, because it is the one that nobody may have got.
 *
 * @param overlapSeconds 0: all previous secrets end at once, such as one that has leaked
 * @throws Problem `webhook_endpoint_not_found`
 */
export async function rotateEndpointSecret(
  tx: Tx,
  keys: KeyRing,
  id: string,
  overlapSeconds: number = overlap.usual,
): Promise<string> {
  await lockEndpoint(tx, id);
  const endpoint = await findEndpoint(tx, keys, undefined, id);
  // Encrypted with a secret key that was lost.
  if (!endpoint) throw notFound();
  const secret = makeSecret();
  const { secret: replaced, previousSecrets: others } = endpoint;
  const previous = async () =>
    others.length < mostPrevious
      ? [{ secret: replaced, expiresAt: await timeAfter(tx, overlapSeconds) }, ...others]
      : others;
  await updateEndpoint(tx, id, {
    sealed_secret: sealSecret(keys, id, secret),
    ...sealPrevious(keys, id, overlapSeconds === 0 ? [] : await previous()),
  });
  return secret;
}

/** By the clock of the database. */
async function timeAfter(tx: Tx, seconds: number): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`SELECT now() + make_interval(secs => ${seconds}) AS at`.execute(tx);
  const [row] = rows;
  if (!row) throw new Error('expected a row');
  return row.at;
}

/** Milliseconds. */
const deletionTimeout = 1_000;

/**
 * Deletes an endpoint with its deliveries. No event can be published until the transaction ends, because its deliveries refer to the
 * endpoint: if the COMMIT does not come, the server soon rolls back.
 *
 * @throws Problem `webhook_endpoint_not_found`
 */
export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await lockEndpoint(tx, id);
  await sql`
    WITH limited AS MATERIALIZED (
      SELECT set_config('idle_in_transaction_session_timeout', ${String(deletionTimeout)}, true))
    DELETE FROM webhook_endpoints USING limited WHERE id = ${id}`.execute(tx);
}

/** @throws Problem `webhook_endpoint_not_found`, `webhook_endpoint_disabled` */
export async function lockEnabledEndpoint(tx: Tx, id: string): Promise<void> {
  const { disabledReason } = await lockEndpoint(tx, id);
  if (disabledReason !== null) throw new Problem('webhook_endpoint_disabled');
}

/** Locks an endpoint, so that it is neither disabled nor deleted until the transaction ends. Deliveries to it go on. */
async function lockEndpoint(tx: Tx, id: string): Promise<LockedRow> {
  if (!isUuid(id)) throw notFound();
  const row = await lockRow(tx, id);
  if (!row) throw notFound();
  return row;
}

function notFound(): Problem {
  return new Problem('webhook_endpoint_not_found', { detail: 'No webhook endpoint has this id.' });
}

function assertAllowed(url: string, rules: AddressRules): void {
  const mistake = urlMistake(url, rules);
  if (mistake !== undefined) throw problemAt(inBody('url'), 'webhook_url_rejected', mistake);
}
