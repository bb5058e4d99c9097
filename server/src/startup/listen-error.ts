import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigurationError } from './configuration-error.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Listens for a moment, so that an unavailable port is reported before anything is started or changed.
 *
 * @throws {ConfigurationError} that names HOST or PORT
 */
export async function assertCanListen({ host, port }: Address): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ host, port });
    await once(probe, 'listening');
  } catch (error) {
    throw listenError(error, { host, port });
  }
  probe.close();
  await once(probe, 'close');
}

/** Converts the system's error about an address to a message. Returns any other error unchanged. */
export function listenError(error: unknown, { host, port }: Address): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigurationError([
        `PORT: ${port} on ${host} is in use by another process (EADDRINUSE); set PORT to another port, or to 0 for a free one`,
      ]);
    case 'EACCES':
      return new ConfigurationError([`PORT: this user is not allowed to listen on ${port} of ${host} (EACCES)`]);
    case 'EADDRNOTAVAIL':
      return new ConfigurationError([`HOST: ${host} is not an address of this machine (EADDRNOTAVAIL)`]);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigurationError([`HOST: the name ${host} cannot be resolved (${error.code})`]);
    default:
      return error;
  }
}
