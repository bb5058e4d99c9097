import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import type { ConfiguredAccess, ConfiguredClient } from '../config/configuration.ts';
import type { ClientBudgets } from '../config/schema/client-budgets.ts';
import type { Scope } from '../config/schema/schema.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { resolveGrants } from './grants.ts';
import { type ClientKeys, keysOf, readClients, type StoredClient, type StoredClients } from './read-clients.ts';

/** A client of the gateway. */
export interface Client {
  readonly id: string;
  readonly scopes: ReadonlySet<Scope>;
  /** What an access token with system scopes gives beside them. */
  readonly ofTypes?: ReadonlySet<string>;
  /** The care units that the client may use, by EHR. */
  readonly grants: ReadonlyMap<string, ReadonlySet<string>>;
  /** Where the page for patients may link back to. */
  readonly returnUrls: readonly string[];
  /** Those of the client itself, which take the place of the general ones. */
  readonly budgets?: Partial<ClientBudgets> | undefined;
  /** The public keys with which it signs assertions. Absent: it has none. */
  readonly keys?: ClientKeys | undefined;
}

export type Permissions = Pick<Client, 'scopes' | 'ofTypes'>;

/** A member of `ofTypes`. */
export function ofType(resource: string, scope: Scope): string {
  return `${scope} of ${resource}`;
}

/** Whether a client has a scope, or from system scopes what it gives for a FHIR type. */
export function hasScope({ scopes, ofTypes }: Permissions, scope: Scope, resource: string): boolean {
  return scopes.has(scope) || ofTypes?.has(ofType(resource, scope)) === true;
}

/** The clients of the configuration file, and those that operators manage, in memory. */
export interface ClientRegistry {
  /** The client with this id and secret. Returns `undefined` for both an unknown id and an incorrect secret. */
  authenticate(id: string, secret: string): Client | undefined;
  /** The client with this id, for what it has started. */
  find(id: string): Client | undefined;
  /** Whether the id is that of a client, which may be revoked. Only such ids may be logged. */
  has(id: string): boolean;
  /** The display name of a client, which may be revoked. */
  nameOf(id: string): string | undefined;
}

export interface RefreshableClients extends ClientRegistry {
  /** The clients of the configuration file, as it is now. */
  configured(): readonly Client[];
  /** From now on, the clients of another configuration file are used, and clients have the grants that it can give. */
  configure(configuration: RegistryConfiguration): void;
  /** Reads the stored clients if they have changed. Afterwards, every change committed before the call is in effect. */
  refresh(): Promise<void>;
  /** Stored clients, not revoked, that are not used, because the configuration file has clients with their ids. */
  overridden(): readonly string[];
}

interface Entry {
  readonly name: string;
  /** Absent: the client is revoked or not proven. */
  readonly client?: Client;
  readonly secrets: StoredClient['secrets'];
}

/** The clients of the configuration with their secrets, and what clients can be granted. */
export type RegistryConfiguration = Pick<ConfiguredAccess, 'emrs'> & { readonly clients: readonly ConfiguredClient[] };
interface Options {
  readonly configured: RegistryConfiguration;
  /** Returns `undefined` if the revision is still the known one. */
  readonly read: (knownRevision: string | undefined) => Promise<StoredClients | undefined>;
}

const nobody: Entry = { name: '', secrets: [{ hash: Buffer.alloc(32), expiresAt: null }] };

/** Creates the registry with the configured clients. `refresh` adds the stored ones. */
export function createClientRegistry({ configured: first, read }: Options): RefreshableClients {
  let known = first;
  let configured = entriesOf(first);
  let latest: StoredClients | undefined;
  let stored: ReadonlyMap<string, Entry> = new Map();
  const resolve = () => new Map(latest?.clients.map((client) => [client.id, fromDatabase(client, known.emrs)]));
  let startedReads = 0;
  let appliedRead = 0;
  const entryOf = (id: string) => configured.get(id) ?? stored.get(id);
  return {
    configured: () => [...configured.values()].flatMap(({ client }) => client ?? []),
    configure(next) {
      known = next;
      configured = entriesOf(next);
      stored = resolve();
    },
    authenticate(id, secret) {
      const entry = entryOf(id);
      const given = hashOfSecret(secret);
      const now = Date.now();
      let matches = false;
      // An unknown id takes the same comparison as an incorrect secret.
      for (const { hash, expiresAt } of (entry?.client ? entry : nobody).secrets) {
        const isValid = expiresAt === null || now < expiresAt.getTime();
        matches = (timingSafeEqual(hash, given) && isValid) || matches;
      }
      return matches ? entry?.client : undefined;
    },
    find: (id) => entryOf(id)?.client,
    has: (id) => entryOf(id) !== undefined,
    nameOf: (id) => entryOf(id)?.name,
    async refresh() {
      const order = ++startedReads;
      const found = await read(latest?.revision);
      // A read that started later may have ended earlier, with newer data.
      if (!found || order < appliedRead) return;
      appliedRead = order;
      latest = found;
      stored = resolve();
    },
    overridden: () => [...stored].flatMap(([id, { client }]) => (client && configured.has(id) ? id : [])),
  };
}

const entriesOf = ({ clients }: RegistryConfiguration) =>
  new Map(clients.map((client) => [client.id, fromConfiguration(client)]));

function fromConfiguration(configured: ConfiguredClient): Entry {
  const { id, name, secrets, scopes, grants, return_urls = [] } = configured;
  return {
    name,
    client: {
      id,
      scopes: new Set(scopes),
      grants: new Map(grants.map(({ emr, care_units }) => [emr, new Set(care_units)])),
      returnUrls: return_urls,
      keys: keysOf(configured),
      budgets: configured.budgets,
    },
    secrets: secrets.map(({ sha256 }) => ({ hash: Buffer.from(sha256, 'hex'), expiresAt: null })),
  };
}

function fromDatabase(
  { id, name, secrets, scopes, grants, returnUrls, keys, budgets, isRevoked, isProven }: StoredClient,
  emrs: ConfiguredAccess['emrs'],
): Entry {
  if (isRevoked || !isProven) return { name, secrets };
  const client = { id, scopes: new Set(scopes), grants: resolveGrants(grants, emrs), returnUrls, keys, budgets };
  return { name, client, secrets };
}

/** A new secret: 256 random bits, in base64url. It is shown once, and only its hash is stored. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * SHA-256. Secrets are random with 256 bits, so a plain hash is enough: guessing them is infeasible even with a fast one.
 */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Creates the registry with the clients of the configuration file and of the database. */
export async function openClientRegistry(
  configuration: RegistryConfiguration,
  db: Db,
  keys: KeyRing,
  log: Logger,
): Promise<RefreshableClients> {
  const clients = createClientRegistry({ configured: configuration, read: (known) => readClients(db, keys, known) });
  await clients.refresh();
  for (const client_id of clients.overridden()) {
    log.warn({ client_id }, 'stored client not used: the configuration file has a client with the same id');
  }
  return clients;
}
