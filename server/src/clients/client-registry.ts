import { hash, timingSafeEqual } from 'node:crypto';
import type { ConfiguredClient } from '../config/configuration.ts';
import type { Scope } from '../config/schema.ts';

/** A client of the gateway. */
export interface Client {
  readonly id: string;
  readonly secretHashes: readonly Buffer[];
  readonly scopes: ReadonlySet<Scope>;
  /** The care units that the client may use, by EHR. */
  readonly grants: ReadonlyMap<string, ReadonlySet<string>>;
  /** Where the page for patients may link back to. */
  readonly returnUrls: readonly string[];
}

export interface ClientRegistry {
  /** The client with this id and secret. Returns `undefined` for both an unknown id and a wrong secret. */
  authenticate(id: string, secret: string): Client | undefined;
  /** The client with this id, for what it has started. */
  find(id: string): Client | undefined;
  /** Whether the client exists. Only ids of existing clients may be logged. */
  has(id: string): boolean;
}

const nobody: Pick<Client, 'secretHashes'> = { secretHashes: [Buffer.alloc(32)] };

/**
 * Secrets are random with 256 bits, so a plain SHA-256 hash is enough: guessing them is infeasible even with a fast hash.
 * An unknown id takes the same comparison as a wrong secret.
 */
export function createClientRegistry(configured: readonly ConfiguredClient[]): ClientRegistry {
  const byId = new Map(configured.map((client) => [client.id, fromConfiguration(client)]));
  return {
    authenticate(id, secret) {
      const client = byId.get(id);
      const given = hash('sha256', secret, 'buffer');
      let matches = false;
      for (const kept of (client ?? nobody).secretHashes) matches = timingSafeEqual(kept, given) || matches;
      return matches ? client : undefined;
    },
    find: (id) => byId.get(id),
    has: (id) => byId.has(id),
  };
}

function fromConfiguration({ id, secrets, scopes, grants, return_urls = [] }: ConfiguredClient): Client {
  return {
    id,
    secretHashes: secrets.map(({ sha256 }) => Buffer.from(sha256, 'hex')),
    scopes: new Set(scopes),
    grants: new Map(grants.map(({ emr, care_units }) => [emr, new Set(care_units)])),
    returnUrls: return_urls,
  };
}
