import { type ListedClient, type ListedGrant, missingPart } from '../clients/list-clients.ts';

/** One line for the list of clients. */
export function clientLine({ id, source, state, grants, scopes, rotatedAt, revokedAt }: ListedClient): string {
  const rotated = source === 'operators' ? `  rotated ${rotatedText(rotatedAt)}` : '';
  const ended = revokedAt ? `  all secrets ended ${revokedAt.toISOString()}` : '';
  return `${id}  ${source}  ${state}  EHRs ${grants.map(grantedEhr).join(',')}  scopes ${scopes.length}${rotated}${ended}\n`;
}

function rotatedText(rotatedAt: ListedClient['rotatedAt']): string {
  return rotatedAt instanceof Date ? rotatedAt.toISOString() : rotatedAt;
}

function grantedEhr(grant: ListedGrant): string {
  const missing = missingPart(grant);
  return missing ? `${grant.emr} (${missing} not in the configuration)` : grant.emr;
}

/**
 * A client for other programs. `not_configured`: what the grant names and the configuration lacks. `rotated_at`: `null` if
 * never, or not known.
 */
export function clientAsJson(client: ListedClient) {
  const { id, name, source, state, scopes, grants, returnUrls, keys, secrets, rotatedAt, createdAt, revokedAt } =
    client;
  return {
    id,
    name,
    source: source === 'operators' ? 'operators' : 'configuration_file',
    state,
    scopes,
    grants: grants.map(({ emr, name, careUnits }) => ({
      emr,
      care_units: careUnits?.map((unit) => unit.id) ?? null,
      not_configured:
        name === undefined ? [emr] : (careUnits ?? []).flatMap((unit) => (unit.name === undefined ? unit.id : [])),
    })),
    return_urls: returnUrls,
    budgets: client.budgets,
    jwks_uri: keys && 'uri' in keys ? keys.uri : null,
    key_ids: keys && 'jwks' in keys ? keys.jwks.keys.map(({ kid }) => kid) : [],
    secrets: secrets.map(({ createdAt, expiresAt }) => ({ created_at: createdAt, expires_at: expiresAt })),
    rotated_at: rotatedAt instanceof Date ? rotatedAt : null,
    created_at: createdAt,
    revoked_at: revokedAt,
  };
}

/** Everything about a client but its secrets. */
export function describeClient(client: ListedClient): string {
  const { id, name, source, state, scopes, grants, returnUrls, keys, secrets, rotatedAt, createdAt, revokedAt } =
    client;
  const rows = [
    ['id', id],
    ['name', name],
    ['source', source],
    ['state', state],
    ['scopes', scopes.join(', ')],
    ...grants.map((grant) => ['grant', describeGrant(grant)]),
    ...returnUrls.map((url) => ['return URL', url]),
    ...(keys
      ? ['uri' in keys ? ['JWKS URI', keys.uri] : ['key ids', keys.jwks.keys.map(({ kid }) => kid).join(', ')]]
      : []),
    ...Object.entries(client.budgets).map(([budget, value]) => ['budget', `${budget} ${value}`]),
    ...secrets.map(({ createdAt, expiresAt }, index) => [
      index === 0 ? 'secret' : 'previous secret',
      `created ${createdAt.toISOString()}${expiresAt ? `, valid until ${expiresAt.toISOString()}` : ''}`,
    ]),
    ...(createdAt
      ? [
          ['last rotation', rotatedText(rotatedAt)],
          ['created', createdAt.toISOString()],
        ]
      : []),
    ...(revokedAt ? [['revoked', `${revokedAt.toISOString()}, all secrets ended`]] : []),
  ];
  return rows.map(([key, value]) => `${`${key}:`.padEnd(17)}${value}\n`).join('');
}

function describeGrant({ emr, name, careUnits }: ListedGrant): string {
  if (name === undefined) return `${emr} (not in the configuration: no access)`;
  if (careUnits === null) return `${emr}: all care units`;
  const units = careUnits.map((unit) =>
    unit.name === undefined ? `${unit.id} (not in the configuration: no access)` : unit.id,
  );
  return `${emr}: ${units.join(', ')}`;
}
