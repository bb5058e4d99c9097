import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { prove } from '../secrets/proofs.ts';
import type { Endpoint } from './endpoint.ts';
import { factsOfEndpoint } from './endpoint-proof.ts';
import {
  type EndpointRow,
  openEndpoint,
  sealPrevious,
  sealSecret,
  sealUrl,
  selectEndpoints,
} from './endpoint-store.ts';
import { sealSubscription } from './subscription-columns.ts';

/**
 * Encrypts and proves endpoints with the newest secret key, so that an older one is needed no longer. At most `limit`. Returns the ids
 * of those that cannot be decrypted.
 */
export async function resealEndpoints(db: Db, keys: KeyRing, limit: number): Promise<readonly string[]> {
  const all = await selectEndpoints(db).execute();
  const older = all.filter((row) =>
    [
      ...[row.sealed_url, row.sealed_secret, row.sealed_previous_secret, row.sealed_earlier_secrets, row.sealed_proof],
      row.sealed_subscription,
    ].some((sealed) => sealed !== null && !keys.isUnderNewest(sealed)),
  );
  const unreadable: string[] = [];
  for (const row of older.slice(0, limit)) {
    const endpoint = openEndpoint(keys, row);
    if (endpoint) await resealEndpoint(db, keys, row, endpoint);
    else unreadable.push(row.id);
  }
  return unreadable;
}

async function resealEndpoint(db: Db, keys: KeyRing, row: EndpointRow, endpoint: Endpoint) {
  const { id, url, secret, previousSecrets, subscription } = endpoint;
  // Unless somebody has changed it meanwhile: the next round takes it.
  await db
    .updateTable('webhook_endpoints')
    .set({
      sealed_url: sealUrl(keys, id, url, subscription && 'subscription url'),
      ...(subscription ? { sealed_subscription: sealSubscription(keys, id, subscription.details) } : {}),
      sealed_secret: sealSecret(keys, id, secret),
      ...sealPrevious(keys, id, previousSecrets),
      sealed_proof: prove(keys, 'webhook endpoint', factsOfEndpoint(row)),
    })
    .where('id', '=', id)
    .where('client_id', '=', row.client_id)
    .where('sealed_url', '=', row.sealed_url)
    .where('sealed_secret', '=', row.sealed_secret)
    .where(sql<boolean>`sealed_subscription IS NOT DISTINCT FROM ${row.sealed_subscription}`)
    .execute();
}
