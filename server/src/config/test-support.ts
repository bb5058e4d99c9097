import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectorModule } from '@crossward/connector-kit';
import { onTestFinished } from 'vitest';
import { ConfigurationError } from '../startup/configuration-error.ts';
import type { Configuration } from './configuration.ts';
import type { EnvironmentVariables } from './environment/environment.ts';
import { loadConfiguration } from './file/load.ts';

function fakeConnector(name: string, settingsSchema: object): ConnectorModule {
  return { name, settingsSchema, open: async () => Promise.reject(new Error('never opened')) };
}

export const fakeConnectors: readonly ConnectorModule[] = [
  fakeConnector('sandbox', {
    type: 'object',
    properties: { country: { type: 'string', enum: ['NO', 'SE', 'GB'] } },
    required: ['country'],
    additionalProperties: false,
  }),
  fakeConnector('remote', {
    type: 'object',
    properties: {
      token: { type: 'object' },
      pages: { type: 'integer', minimum: 1 },
      base_url: { type: 'string' },
      auth: { type: 'object' },
      system: { type: 'string' },
    },
    additionalProperties: false,
  }),
];

export const clientSecret = 'a-client-secret-that-nobody-guesses-0001';

/** A right file; `replace` puts mistakes into it. */
export const rightFile = `emrs:
  - id: north
    name: North
    connector: sandbox
    settings: { country: "NO" }
    care_units:
      - id: oslo
        name: Oslo
        time_zone: Europe/Oslo
        language: nb
clients:
  - id: acme
    secrets: [{ env: ACME_CLIENT_SECRET }]
    scopes: [appointments:read]
    grants:
      - emr: north
`;
const rightVariables: EnvironmentVariables = { ACME_CLIENT_SECRET: clientSecret };

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-config-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function load(
  text: string | Uint8Array,
  environment: EnvironmentVariables = rightVariables,
): Promise<Configuration> {
  const path = join(await temporaryFolder(), 'crossward.yaml');
  await writeFile(path, text);
  return await loadConfiguration({ path, connectors: fakeConnectors, environment });
}

/** The mistakes found in a file, with the folder taken off: `crossward.yaml:1:1: …`. */
export async function mistakesIn(
  text: string | Uint8Array,
  environment: EnvironmentVariables = rightVariables,
): Promise<readonly string[]> {
  return (await errorFrom(load(text, environment))).mistakes.map((line) => line.replace(/^.*?(?=crossward\.yaml)/, ''));
}

export async function errorFrom(promise: Promise<unknown>): Promise<ConfigurationError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof ConfigurationError) return outcome;
  throw new Error('expected a ConfigurationError', { cause: outcome });
}
