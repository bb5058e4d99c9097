import type { Selectable } from 'kysely';
import type { WebhookTables } from '../db/tables/webhooks.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Facts, isProven } from '../secrets/proofs.ts';

/** The columns that say whose endpoint it is, with the proof of them. URL and secrets are encrypted for its id. */
export const provenEndpointColumns = ['id', 'client_id', 'sealed_proof'] as const;

type ProvenEndpointRow = Pick<Selectable<WebhookTables['webhook_endpoints']>, (typeof provenEndpointColumns)[number]>;

/** What the proof of an endpoint is about. */
export function factsOfEndpoint({ id, client_id }: Omit<ProvenEndpointRow, 'sealed_proof'>): Facts {
  return { id, client_id };
}

/** Whether a gateway has made the endpoint for this client. Otherwise it gets no events. */
export function isProvenEndpoint(keys: KeyRing, row: ProvenEndpointRow): boolean {
  return isProven(keys, 'webhook endpoint', factsOfEndpoint(row), row.sealed_proof);
}
