// Writes server/openapi.json. With --check, fails if the file is out of date.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createCursors } from '../src/api/paging.ts';
import { createClientRegistry } from '../src/clients/client-registry.ts';
import { buildApp } from '../src/http/app.ts';
import type { OperationServices } from '../src/operations/services.ts';
import { createKeyRing } from '../src/secrets/key-ring.ts';

const target = new URL('../openapi.json', import.meta.url);

// The description does not depend on the configuration, so an empty one is used.
const app = await buildApp({
  log: pino({ level: 'silent' }),
  metrics: new Registry(),
  clients: createClientRegistry([]),
  ehrs: new Map(),
  cursors: createCursors(createKeyRing([randomBytes(32)])),
  // Never called.
  services: {} as OperationServices,
  mailbox: undefined,
  identifierHeaders: new Set(),
  limits: { requests_per_minute: 1, page_requests_per_minute: 1, failed_credentials: 1 },
  documents: { max_bytes: 1 },
  http: {
    trusted_proxies: [],
    request_timeout_seconds: 60,
    max_connections: 1,
    max_connections_per_address: 1,
    ready_waits_for_emrs: false,
  },
  isReady: async () => false,
});
const text = `${JSON.stringify(app.swagger(), null, 2)}\n`;
await app.close();

if (process.argv.includes('--check')) {
  const published = await readFile(target, 'utf8').catch(() => undefined);
  if (published !== text) {
    process.stderr.write('server/openapi.json is out of date: run npm run openapi\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
