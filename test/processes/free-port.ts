import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/*
 * Below the ports that systems give to connections and to servers that ask for any port (from 32768 on Linux, from 49152
 * elsewhere). Each worker of Vitest has its own share. So nobody else gets a port before its server listens, or while its
 * server is down.
 */
const lowest = 20_000;
const shares = 12;
const share = 1_000;

const first = lowest + (Number(process.env.VITEST_POOL_ID ?? 0) % shares) * share;
let next = randomInt(share);

/** A port on which nothing listens, and that nobody else gets by chance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % share);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
