import { randomBytes } from 'node:crypto';
import { type Configuration, hashSecret } from '../server/src/config/configuration.ts';
import type { Credentials } from './gateway.ts';

/** Credentials that no other test knows. */
export function newCredentials(id: string): Credentials {
  return { id, secret: randomBytes(32).toString('base64url') };
}

/** One more client, which may do whatever the test client `everything` may. */
export function withClient(configuration: Configuration, { id, secret }: Credentials): Configuration {
  const model = configuration.clients.find((client) => client.id === 'everything');
  if (!model) throw new Error('No client may do everything');
  const client = { ...model, id, name: id, secrets: [{ sha256: hashSecret(secret) }] };
  return { ...configuration, clients: [...configuration.clients, client] };
}
