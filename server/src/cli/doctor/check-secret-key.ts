import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lostAuditKeys } from '../../audit/lost-keys.ts';
import type { Environment } from '../../config/environment/environment.ts';
import { parseSecretKey } from '../../config/environment/secret.ts';
import { listUnproven } from '../../console/accounts/renew-proofs.ts';
import type { Database } from '../../db/database.ts';
import { createDb, type Db } from '../../db/kysely.ts';
import { checkKnownKeys, type SecretKeys } from '../../secret-keys/require-known-keys.ts';
import { createKeyRing, keyIdentity } from '../../secrets/key-ring.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { readText } from '../../startup/read-text.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('secret key');

/** Whether the secret keys can read what the database has encrypted. */
export async function checkSecretKey(
  environment: Environment,
  { database, isMigrated }: { readonly database?: Database; readonly isMigrated: boolean },
): Promise<Finding[]> {
  try {
    const { keys, file } = await readKeys(environment);
    if (!keys) return [found('key', 'note', 'the demo creates one when it starts')];
    const name = `${keyIdentity(keys[0]).id}${file === undefined ? '' : ` of ${file}`}`;
    if (!database || !isMigrated) return [found('key', 'ok', `${name}; not compared with the database`)];
    const db = createDb(database);
    await checkKnownKeys(db, keys, file);
    return [
      found('key', 'ok', `${name} reads what the database has encrypted`),
      ...(await lostKeysOf(db, keys)),
      ...(await unprovenIn(db, keys)),
    ];
  } catch (error) {
    if (error instanceof ConfigurationError) return [found('key', 'problem', error.message)];
    throw error;
  }
}

async function lostKeysOf(db: Db, keys: SecretKeys): Promise<Finding[]> {
  const lost = await lostAuditKeys(db, createKeyRing(keys));
  return lost.map(({ id, isRetired }) =>
    isRetired
      ? found('audit key', 'warning', `${id} was lost with a retired secret key: its entries are not found by patient`)
      : found(
          'audit key',
          'problem',
          `${id} cannot be opened: a secret key is missing, or its row in audit_keys was changed. Restore the row from a ` +
            'backup; until then, entries under it are not found by patient',
        ),
  );
}

/** Clients and accounts that let nobody in, and endpoints that get nothing, because no gateway of this version has made them as they are. */
async function unprovenIn(db: Db, keys: SecretKeys): Promise<Finding[]> {
  const { clients, operators, sessions, endpoints } = await listUnproven(db, createKeyRing(keys));
  const why =
    'opens nothing: an older version has changed it, or somebody who can write to the database. Look at it with';
  return [
    ...clients.map((id) => found(`client ${id}`, 'problem', `${why} crossward clients accept ${id}`)),
    ...operators.map((name) =>
      found(`account ${name}`, 'problem', `${why} crossward operators list, then operators reset or disable`),
    ),
    ...endpoints.map(({ id, clientId }) =>
      found(
        `webhook endpoint ${id}`,
        'problem',
        'gets no events: an older version has made it, or somebody who can write to the database has given it to ' +
          `${clientId}. If it is right: crossward webhooks accept ${id} --client ${clientId}`,
      ),
    ),
    ...(sessions > 0
      ? [
          found(
            'sessions',
            'warning',
            `${sessions} of operators open nothing: an older version has started them, or somebody who can write to the database`,
          ),
        ]
      : []),
  ];
}

/** As the gateway reads them: from the environment, or in the demo from its data directory. */
export async function readKeys({
  configurationPath,
  dataDirectory,
  secretKey,
  previousSecretKeys,
}: Environment): Promise<{ keys?: SecretKeys; file?: string }> {
  if (configurationPath !== undefined) {
    if (!secretKey) throw new ConfigurationError(['CROSSWARD_SECRET_KEY: is not set']);
    return { keys: [secretKey.reveal(), ...previousSecretKeys.map((key) => key.reveal())] };
  }
  const file = join(dataDirectory, 'secret-key');
  if (!existsSync(file)) return {};
  const key = parseSecretKey((await readText(file)).trim());
  if (!key) throw new ConfigurationError([`${file}: is damaged: it must contain 32 bytes in base64`]);
  return { keys: [key], file };
}
