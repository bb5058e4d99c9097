import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConnectorModule } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { keepPrivateFile, makePrivateFolder } from '../../startup/private-file.ts';
import {
  type Configuration,
  type ConfiguredAccess,
  deepFreeze,
  hashSecret,
  resolveWebhooks,
} from '../configuration.ts';
import { demoConsole } from '../console-settings.ts';
import { parseSecretKey, Secret } from '../environment/secret.ts';
import { requireLoopback } from '../rules/loopback.ts';
import { scopes } from '../schema/schema.ts';
import { loadConfiguration } from './load.ts';

/** The configuration used if none is given: three sandbox EHRs and the demo mailbox. */
export const demoConfigurationPath = fileURLToPath(new URL('./demo.yaml', import.meta.url));

/** The demo may post events to a receiver on this machine. */
export const demoWebhooks = resolveWebhooks({ allow_private_addresses: true, allow_http: true });

const demoClientId = 'demo';
const demoClient = Type.Object(
  {
    client_id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' }),
    client_secret: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  },
  { additionalProperties: false },
);
const demoOperator = Type.Object(
  {
    name: Type.Literal('demo'),
    password: Type.String({ pattern: '^[A-Za-z0-9_-]{16}$' }),
  },
  { additionalProperties: false },
);
/** Signs in to the console of the demo. */
export type DemoOperator = Readonly<Static<typeof demoOperator>>;

/** The values for `x-service-client-id` and `x-service-client-secret`. */
export type DemoClient = Readonly<Static<typeof demoClient>>;

export interface DemoOptions {
  /** The data directory of the demo. Created with access for its owner only. */
  readonly dataDir: string;
  /** Must include the sandbox. */
  readonly connectors: readonly ConnectorModule[];
  /** The host and port that the gateway will listen on. Port 0: any free one. */
  readonly host: string;
  readonly port: number;
}

export interface Demo {
  /** The demo configuration, with a client that has all scopes and grants. */
  readonly configuration: Configuration;
  readonly client: DemoClient;
  readonly operator: DemoOperator;
  /** 32 bytes. */
  readonly secretKey: Buffer;
  /** Path of the file with the secret key. */
  readonly secretKeyFile: string;
}

/**
 * Prepares the demo. The first call creates the client (`demo-client.json`), the operator (`demo-operator.json`) and the
 * secret key (`secret-key`) in the data directory; later calls read them.
 *
 * @throws {ConfigurationError} if other machines can reach the host, the data directory cannot be used, or a file in it
 * is damaged
 */
export async function prepareDemo({ dataDir, connectors, host, port }: DemoOptions): Promise<Demo> {
  requireLoopback(host, 'the demo');
  const configuration = await loadConfiguration({ path: demoConfigurationPath, connectors, environment: {} });
  await makePrivateFolder(dataDir);
  const secretKeyFile = join(dataDir, 'secret-key');
  const secretKey = await readSecretKey(secretKeyFile);
  const client = await readClient(join(dataDir, 'demo-client.json'));
  const operator = await readOperator(join(dataDir, 'demo-operator.json'));
  return {
    configuration: deepFreeze({
      ...configuration,
      clients: [
        { ...demoAccess(configuration, client.client_id), secrets: [{ sha256: hashSecret(client.client_secret) }] },
      ],
      http: port === 0 ? configuration.http : { ...configuration.http, public_url: addressOf(host, port) },
      webhooks: demoWebhooks,
      console: demoConsole({ name: operator.name, password: new Secret(operator.password) }),
    }),
    client,
    operator,
    secretKey,
    secretKeyFile,
  };
}

function addressOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

async function readClient(path: string): Promise<DemoClient> {
  const text = await keepPrivateFile(path, () => {
    const client: DemoClient = { client_id: demoClientId, client_secret: randomBytes(32).toString('base64url') };
    return `${JSON.stringify(client, null, 2)}\n`;
  });
  const client = parseJson(text);
  if (Check(demoClient, client)) return Object.freeze(client);
  throw new ConfigurationError([
    `${path}: is damaged: it must contain client_id and client_secret; delete the file to create a new client at the next start`,
  ]);
}

async function readOperator(path: string): Promise<DemoOperator> {
  const text = await keepPrivateFile(path, () => {
    const operator: DemoOperator = { name: 'demo', password: randomBytes(12).toString('base64url') };
    return `${JSON.stringify(operator, null, 2)}\n`;
  });
  const operator = parseJson(text);
  if (Check(demoOperator, operator)) return Object.freeze(operator);
  throw new ConfigurationError([
    `${path}: is damaged: it must contain name and password; delete the file to create a new password at the next start`,
  ]);
}

async function readSecretKey(path: string): Promise<Buffer> {
  const text = await keepPrivateFile(path, () => `${randomBytes(32).toString('base64')}\n`);
  const key = parseSecretKey(text.trim());
  if (key) return key;
  throw new ConfigurationError([
    `${path}: is damaged: it must contain 32 bytes in base64; restore it from a backup, or delete the whole data ` +
      'directory to start over: data encrypted with the key cannot be read without it',
  ]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the client of the demo may do: everything. */
export function demoAccess(
  { emrs }: Pick<ConfiguredAccess, 'emrs'>,
  id = demoClientId,
): ConfiguredAccess['clients'][number] {
  return {
    id,
    name: 'Demo',
    scopes: [...scopes],
    grants: emrs.map((emr) => ({ emr: emr.id, care_units: emr.care_units.map((careUnit) => careUnit.id) })),
    return_urls: ['http://localhost', 'http://127.0.0.1'],
  };
}
