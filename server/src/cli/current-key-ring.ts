import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '../config/environment/environment.ts';
import { parseSecretKey } from '../config/environment/secret.ts';
import type { Db } from '../db/kysely.ts';
import { checkKnownKeys, listKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing, type KeyRing, keyIdentity } from '../secrets/key-ring.ts';
import { readText } from '../startup/read-text.ts';
import { UsageError } from './exit-codes.ts';

/**
 * The key ring with the secret key that the gateways on this database encrypt with, and the previous keys that are set.
 *
 * @throws {UsageError} when the key is not set, or another one is
 */
export async function currentKeyRing(db: Db): Promise<KeyRing> {
  const key = await configuredKey();
  if (!key) {
    throw new UsageError('CROSSWARD_SECRET_KEY is not set. Set it to the same value as for the gateway.');
  }
  const current = (await listKnownKeys(db)).find(({ replaced_at }) => replaced_at === null);
  const { id } = keyIdentity(key);
  if (current?.id === id) return createKeyRing([key, ...previousKeys()]);
  throw new UsageError(
    current
      ? `The gateway uses the secret key ${current.id}, and CROSSWARD_SECRET_KEY is ${id}. Set it to the same value as for the gateway.`
      : 'The database was never used with a secret key. Start the gateway once.',
  );
}

/**
 * The key ring with all secret keys that stored data needs.
 *
 * @throws {UsageError} when the current key is not set
 * @throws {ConfigurationError} when one of them is missing
 */
export async function completeKeyRing(db: Db): Promise<KeyRing> {
  const key = await configuredKey();
  if (!key) {
    throw new UsageError('CROSSWARD_SECRET_KEY is not set. Set it to the same value as for the gateway.');
  }
  const keys = [key, ...previousKeys()] as const;
  await checkKnownKeys(db, keys);
  return createKeyRing(keys);
}

function previousKeys(): Buffer[] {
  const { CROSSWARD_PREVIOUS_SECRET_KEYS } = process.env;
  return readEnvironment({ CROSSWARD_PREVIOUS_SECRET_KEYS }).previousSecretKeys.map((it) => it.reveal());
}

/** From the environment, otherwise that of the demo. */
async function configuredKey(): Promise<Buffer | undefined> {
  const { CROSSWARD_SECRET_KEY, CROSSWARD_DATA_DIR } = process.env;
  const { secretKey, dataDirectory } = readEnvironment({ CROSSWARD_SECRET_KEY, CROSSWARD_DATA_DIR });
  if (secretKey) return secretKey.reveal();
  const file = join(dataDirectory, 'secret-key');
  return existsSync(file) ? parseSecretKey((await readText(file)).trim()) : undefined;
}
