import type { ConfiguredAccess } from '../config/configuration.ts';
import type { Db } from '../db/kysely.ts';
import { provenClientColumns, stateOfClient } from './client-proof.ts';
import { previousColumns, previousSecrets } from './previous-secrets.ts';
import { type ClientKeys, keysOf } from './read-clients.ts';

/** The care units that a grant gives access to, as they are shown. */
export interface ListedGrant {
  readonly emr: string;
  /** Undefined: the configuration has no such EHR, and the grant gives no access. */
  readonly name: string | undefined;
  /** `null`: all, also those that the configuration gets later. */
  readonly careUnits: readonly { readonly id: string; readonly name: string | undefined }[] | null;
}

/** Whether the configuration lacks what a grant names: its EHR, some of its care units, or nothing. */
export function missingPart({ name, careUnits }: ListedGrant): 'EHR' | 'care units' | undefined {
  if (name === undefined) return 'EHR';
  return careUnits?.some((unit) => unit.name === undefined) ? 'care units' : undefined;
}

/** A client as operators see it, without the hashes of its secrets. */
export interface ListedClient {
  readonly id: string;
  readonly name: string;
  readonly source: 'configuration file' | 'operators';
  /** `overridden`: not revoked, but the configuration file has a client with this id, which is used instead. */
  readonly state: 'active' | 'revoked' | 'overridden';
  readonly scopes: readonly string[];
  readonly grants: readonly ListedGrant[];
  readonly returnUrls: readonly string[];
  readonly keys: ClientKeys | undefined;
  /** Those of the client itself. */
  readonly budgets: Readonly<Record<string, number>>;
  /** The newest first. Those of the configuration file are not listed. */
  readonly secrets: readonly { readonly createdAt: Date; readonly expiresAt: Date | null }[];
  readonly rotatedAt: Date | 'never' | 'not known';
  readonly createdAt: Date | null;
  readonly revokedAt: Date | null;
  readonly version: number;
}

/** All clients, by id. One of the configuration file comes before a stored one with the same id. */
export async function listClients(db: Db, configured: ConfiguredAccess): Promise<ListedClient[]> {
  const rows = await selectClients(db).execute();
  const ids = new Set(configured.clients.map(({ id }) => id));
  const all = [
    ...configured.clients.map((client) => fromConfiguration(client, configured.emrs)),
    ...rows.map((row) => fromDatabase(row, configured.emrs, ids)),
  ];
  // By code unit: `localeCompare` depends on the machine.
  return all.sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
}

/** The client that has an id: that of the configuration file, otherwise the stored one. */
export async function findListedClient(
  db: Db,
  { clients, emrs }: ConfiguredAccess,
  id: string,
): Promise<ListedClient | undefined> {
  const configured = clients.find((client) => client.id === id);
  if (configured) return fromConfiguration(configured, emrs);
  const row = await selectClients(db).where('id', '=', id).executeTakeFirst();
  return row && fromDatabase(row, emrs, new Set());
}

/** The stored client, not revoked, in whose place that of the configuration file is used. */
export async function findOverridden(
  db: Db,
  { clients, emrs }: ConfiguredAccess,
  id: string,
): Promise<ListedClient | undefined> {
  const ids = new Set(clients.map((client) => client.id));
  const row = ids.has(id) ? await selectClients(db).where('id', '=', id).executeTakeFirst() : undefined;
  return row && !row.revoked_at ? fromDatabase(row, emrs, ids) : undefined;
}

/** The stored client with an id, and the name of its state for `acceptClient`. */
export async function findUnaccepted(
  db: Db,
  { emrs }: ConfiguredAccess,
  id: string,
): Promise<{ readonly client: ListedClient; readonly state: string } | undefined> {
  const row = await selectClients(db).where('id', '=', id).executeTakeFirst();
  return row && { client: fromDatabase(row, emrs, new Set()), state: stateOfClient(row) };
}

function selectClients(db: Db) {
  return db
    .selectFrom('clients')
    .select(provenClientColumns)
    .select(['created_at', 'secret_created_at', ...previousColumns]);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectClients>['execute']>>[number];

function fromConfiguration(client: ConfiguredAccess['clients'][number], emrs: ConfiguredAccess['emrs']): ListedClient {
  const { id, name, scopes, grants, return_urls = [] } = client;
  return {
    id,
    name,
    source: 'configuration file',
    state: 'active',
    scopes,
    grants: grants.map((grant) => listedGrant(grant, emrs)),
    returnUrls: return_urls,
    keys: keysOf(client),
    budgets: { ...client.budgets },
    secrets: [],
    rotatedAt: 'not known',
    createdAt: null,
    revokedAt: null,
    version: 0,
  };
}

function fromDatabase(row: Row, emrs: ConfiguredAccess['emrs'], configuredIds: ReadonlySet<string>): ListedClient {
  const { id, name, scopes, grants, return_urls, version, created_at, revoked_at } = row;
  const { secret_hash: secret, secret_created_at: created } = row;
  return {
    id,
    name,
    source: 'operators',
    state: revoked_at ? 'revoked' : configuredIds.has(id) ? 'overridden' : 'active',
    scopes,
    grants: grants.map((grant) => listedGrant(grant, emrs)),
    returnUrls: return_urls,
    keys: keysOf(row),
    budgets: row.budgets,
    secrets: [
      ...(created && secret ? [{ createdAt: created, expiresAt: null }] : []),
      ...previousSecrets(row).map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt })),
    ],
    // An earlier version deleted the time when it revoked a client.
    rotatedAt: !created ? 'not known' : created > created_at ? created : 'never',
    createdAt: created_at,
    revokedAt: revoked_at,
    version,
  };
}

function listedGrant(
  { emr, care_units }: { readonly emr: string; readonly care_units?: readonly string[] | undefined },
  emrs: ConfiguredAccess['emrs'],
): ListedGrant {
  const found = emrs.find(({ id }) => id === emr);
  const nameOf = (id: string) => found?.care_units.find((careUnit) => careUnit.id === id)?.name;
  return { emr, name: found?.name, careUnits: care_units?.map((id) => ({ id, name: nameOf(id) })) ?? null };
}
