import type { Database } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { listSilentEndpoints } from '../../webhooks/failing-endpoints.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('messages');

/** Names the webhook endpoints that take nothing. They belong to clients, so each is a warning. */
export async function checkWebhooks(database: Database): Promise<Finding[]> {
  const silent = await listSilentEndpoints(createDb(database));
  return silent.map(({ id, clientId, since }) => {
    const hint = `\`crossward webhooks deliveries ${id}\` says why`;
    return found(
      'webhooks',
      'warning',
      `the endpoint ${id} of ${clientId} takes no events since ${since.toISOString()}: ${hint}`,
    );
  });
}
