import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../config/environment.ts';
import { parseSecretKey } from '../../config/secret-key.ts';
import type { Database } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { checkKnownKeys, type SecretKeys } from '../../secret-keys/require-known-keys.ts';
import { keyIdentity } from '../../secrets/key-ring.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { readText } from '../../startup/read-text.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('secret key');

/** Whether the secret keys can read what the database has encrypted. */
export async function checkSecretKey(
  environment: Environment,
  { database, isMigrated }: { readonly database?: Database; readonly isMigrated: boolean },
): Promise<Finding> {
  try {
    const { keys, file } = await readKeys(environment);
    if (!keys) return found('key', 'note', 'the demo creates one when it starts');
    const name = `${keyIdentity(keys[0]).id}${file === undefined ? '' : ` of ${file}`}`;
    if (!database || !isMigrated) return found('key', 'ok', `${name}; not compared with the database`);
    await checkKnownKeys(createDb(database), keys, file);
    return found('key', 'ok', `${name} reads what the database has encrypted`);
  } catch (error) {
    if (error instanceof ConfigurationError) return found('key', 'problem', error.message);
    throw error;
  }
}

/** As the gateway reads them: from the environment, or in the demo from its data directory. */
async function readKeys({
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
