import { readFileSync } from 'node:fs';
import { type EnvironmentVariables, readEnvironment } from '../config/environment/environment.ts';
import { createKeyRing, type KeyRing } from '../secrets/key-ring.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { createDesk, type Desk, type GatewayAccess } from './desk.ts';
import { keysFrom } from './references.ts';

/** What a client of assistants needs. */
export const assistantScopes = ['appointments:read', 'appointments:write', 'resources:read'] as const;

/** Variables of `crossward mcp` on standard input and output, each with its meaning. */
export const assistantVariables = {
  CROSSWARD_URL: 'base URL of the gateway',
  CROSSWARD_CLIENT_ID: `id of the client, with the scopes ${assistantScopes.join(', ')}`,
  CROSSWARD_CLIENT_SECRET: 'its secret',
  CROSSWARD_EMR: 'id of the EHR',
  CROSSWARD_CARE_UNIT: 'id of the care unit; not set: every one of the EHR that the client is granted',
  CROSSWARD_PATIENT: 'the patient, such as no_personal_number:…',
} as const;
/** Variables in place of the secret, for a client that has a key. */
export const keyVariables = {
  CROSSWARD_CLIENT_KEY_FILE: 'file with its private key, PKCS #8 in PEM, in place of the secret',
  CROSSWARD_CLIENT_KEY_ID: 'the kid of its public key',
} as const;
/** Variables that may be absent, each with its meaning. */
export const optionalVariables = {
  CROSSWARD_IDENTIFIER_TYPES:
    'file with the identifier_types of the gateway, such as its configuration, if it declares some',
} as const;
type Variable = keyof typeof assistantVariables | keyof typeof keyVariables;

const meanings = { ...assistantVariables, ...keyVariables };

/** @throws {ConfigurationError} naming each variable that is missing or wrong, without its value */
export function readDesk(variables: EnvironmentVariables): Desk {
  const hasKey = (variables.CROSSWARD_CLIENT_KEY_FILE ?? '') !== '';
  const needed: readonly Variable[] = [
    'CROSSWARD_URL',
    'CROSSWARD_CLIENT_ID',
    ...(hasKey ? (['CROSSWARD_CLIENT_KEY_ID'] as const) : (['CROSSWARD_CLIENT_SECRET'] as const)),
    'CROSSWARD_EMR',
    'CROSSWARD_PATIENT',
  ];
  const value = readVariables(variables, needed);
  const clientId = value('CROSSWARD_CLIENT_ID');
  const secret = hasKey ? readKey(value('CROSSWARD_CLIENT_KEY_FILE')) : value('CROSSWARD_CLIENT_SECRET');
  const credentials: Omit<GatewayAccess, 'baseUrl'> = hasKey
    ? { privateKey: { key: secret, keyId: value('CROSSWARD_CLIENT_KEY_ID') } }
    : { clientSecret: secret };
  const assignment = {
    clientId,
    emr: value('CROSSWARD_EMR'),
    careUnitId: value('CROSSWARD_CARE_UNIT') || undefined,
    patient: value('CROSSWARD_PATIENT'),
  };
  return checked(() =>
    createDesk(assignment, { baseUrl: value('CROSSWARD_URL'), ...credentials }, keysFrom(clientId, secret)),
  );
}

/** What the program needs over HTTP. */
export interface HttpVariables {
  readonly baseUrl: string;
  /** With the gateway's secret keys. `undefined`: clients with access tokens are not served. */
  readonly keys: KeyRing | undefined;
}

/** @throws {ConfigurationError} as `readDesk` */
export function readHttpVariables(variables: EnvironmentVariables): HttpVariables {
  const baseUrl = readVariables(variables, ['CROSSWARD_URL'])('CROSSWARD_URL');
  const nobody = { clientId: 'x', emr: 'x', careUnitId: 'x', patient: 'x' };
  checked(() => createDesk(nobody, { baseUrl, clientSecret: 'x' }, keysFrom('x', 'x')));
  const { CROSSWARD_SECRET_KEY, CROSSWARD_PREVIOUS_SECRET_KEYS } = variables;
  const { secretKey, previousSecretKeys } = readEnvironment({ CROSSWARD_SECRET_KEY, CROSSWARD_PREVIOUS_SECRET_KEYS });
  const keys = secretKey && createKeyRing([secretKey.reveal(), ...previousSecretKeys.map((it) => it.reveal())]);
  return { baseUrl, keys };
}

function readVariables(variables: EnvironmentVariables, needed: readonly Variable[]): (name: Variable) => string {
  const missing = needed.filter((name) => (variables[name] ?? '').trim() === '');
  if (missing.length > 0) {
    throw new ConfigurationError(missing.map((name) => `${name}: is not set: ${meanings[name]}`));
  }
  return (name) => variables[name] ?? '';
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigurationError(['CROSSWARD_CLIENT_KEY_FILE: the file cannot be read']);
  }
}

function checked(create: () => Desk): Desk {
  try {
    return create();
  } catch (error) {
    if (error instanceof TypeError) {
      throw new ConfigurationError([`CROSSWARD_URL or CROSSWARD_CLIENT_…: ${error.message}`]);
    }
    throw error;
  }
}
