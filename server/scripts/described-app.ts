import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createCursors } from '../src/api/paging.ts';
import { createClientRegistry } from '../src/clients/client-registry.ts';
import type { Db } from '../src/db/kysely.ts';
import { type AppDeps, buildApp } from '../src/http/app.ts';
import { addOpenApiGenerator } from '../src/http/openapi/openapi-generator.ts';
import type { KeySets } from '../src/oauth/key-sets.ts';
import { createKeyRing } from '../src/secrets/key-ring.ts';
import type { WriteServices } from '../src/writes/write-kind.ts';

// The description does not depend on the configuration, so an empty one is used.
const keys = createKeyRing([randomBytes(32)]);
const deps: Omit<AppDeps, 'metrics'> = {
  log: pino({ level: 'silent' }),
  clients: createClientRegistry({ configured: { clients: [], emrs: [] }, read: async () => undefined }),
  ehrs: new Map(),
  cursors: createCursors(keys),
  services: { keys } as WriteServices,
  slots: {} as AppDeps['slots'],
  sameServices: () => [],
  // Never called.
  limitsDb: {} as Db,
  keySets: {} as KeySets,
  now: () => new Date(),
  mailbox: undefined,
  identifierHeaders: new Set(),
  limits: {
    requests_per_minute: 1,
    page_requests_per_minute: 1,
    failed_credentials: 1,
    held_times: 1,
    sms_per_day: 1,
    emails_per_day: 1,
  },
  documents: { max_bytes: 1 },
  http: {
    trusted_proxies: [],
    discovery_origins: [],
    request_timeout_seconds: 60,
    max_connections: 1,
    max_connections_per_address: 1,
    drain_seconds: 0,
    ready_waits_for_emrs: false,
  },
  webhooks: {
    allow_private_addresses: false,
    allow_http: false,
    timeout_ms: 1,
    retry_seconds: [],
    max_endpoints: 1,
  },
  databaseTrouble: () => undefined,
  isReady: async () => false,
};

/** The HTTP interface without EHRs, with `swagger()`. */
export function describedApp(): Promise<FastifyInstance> {
  return buildApp({ ...deps, metrics: new Registry() }, addOpenApiGenerator);
}
