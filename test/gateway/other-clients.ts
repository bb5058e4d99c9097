import { randomBytes } from 'node:crypto';
import { type Configuration, hashSecret } from '../../server/src/config/configuration.ts';
import type { Credentials } from './gateway.ts';

/** New credentials with a random secret. */
export function newCredentials(id: string): Credentials {
  return { id, secret: randomBytes(32).toString('base64url') };
}

/** Adds a client with the scopes and grants of the test client `everything`. */
export function withClient(configuration: Configuration, { id, secret }: Credentials): Configuration {
  const model = configuration.clients.find((client) => client.id === 'everything');
  if (!model) throw new Error('The configuration has no client `everything`');
  const client = { ...model, id, name: id, secrets: [{ sha256: hashSecret(secret) }] };
  return { ...configuration, clients: [...configuration.clients, client] };
}
