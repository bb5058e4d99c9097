import { once } from 'node:events';
import { createServer, type ListenOptions } from 'node:net';
import { ConfigurationError } from './configuration-error.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Listens for a moment, so that an unavailable port is reported before anything is started or changed.
 *
 * @throws {ConfigurationError} that names HOST, PORT or CROSSWARD_WORKERS
 */
export async function assertCanListen({ host, port, workers }: Address & { readonly workers: number }): Promise<void> {
  await tryToListen({ host, port });
  // Not at first: another gateway that shares the port would go unnoticed.
  if (workers > 1) await tryToListen({ host, port, reusePort: true });
}

async function tryToListen(options: Address & ListenOptions): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(options);
    await once(probe, 'listening');
  } catch (error) {
    throw listenError(error, options);
  }
  probe.close();
  await once(probe, 'close');
}

/**
 * Converts the system's error about an address to a message. Returns any other error unchanged.
 *
 * @param setting where the port is set
 */
export function listenError(error: unknown, { host, port }: Address, setting = 'PORT'): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigurationError([
        `${setting}: ${port} on ${host} is in use by another process (EADDRINUSE); set ${setting} to another port${setting === 'PORT' ? ', or to 0 for a free one' : ''}`,
      ]);
    case 'EACCES':
      return new ConfigurationError([`${setting}: this user is not allowed to listen on ${port} of ${host} (EACCES)`]);
    case 'EADDRNOTAVAIL':
      return new ConfigurationError([`HOST: ${host} is not an address of this machine (EADDRNOTAVAIL)`]);
    case 'ENOTSUP':
      // https://nodejs.org/api/net.html#serverlistenoptions-callback: `reusePort`
      return new ConfigurationError([
        'CROSSWARD_WORKERS: processes cannot share a port on this system (ENOTSUP), only on Linux, FreeBSD, DragonFly BSD, Solaris and AIX; set it to 1',
      ]);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigurationError([`HOST: the name ${host} cannot be resolved (${error.code})`]);
    default:
      return error;
  }
}
