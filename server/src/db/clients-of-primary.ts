import { Socket } from 'node:net';
import pg from 'pg';
import type { PrimaryServer } from './primary-server.ts';

/**
 * A class of clients that connect to the server in use. When another server comes into use, their connections break, since a
 * server that has failed may leave them open without a response.
 */
export function clientsOf(primary: PrimaryServer): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      const { url } = primary;
      const socket = new Socket();
      super({ ...(typeof config === 'object' ? config : {}), connectionString: url, stream: () => socket });
      const forget = primary.onChange(() => {
        if (primary.url !== url) socket.destroy();
      });
      socket.once('close', forget);
    }
  };
}
