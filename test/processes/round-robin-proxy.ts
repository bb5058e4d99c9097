import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';

export interface RoundRobinProxy {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * A proxy that gives each request to the next of several servers. It skips a server that refuses connections. If a server
 * ends during a request, the caller's connection breaks, because the request may have been executed.
 *
 * @param options.path below which it serves, and which it removes. Other paths get 404
 * @param options.healthPort where it asks each server every second whether it is ready. Servers that are not get no requests. A
 *   server that does not answer stays what it was: a busy machine may be slow
 */
export async function startRoundRobinProxy(
  targets: readonly string[],
  { path = '', healthPort }: { readonly path?: string; readonly healthPort?: number } = {},
): Promise<RoundRobinProxy> {
  const agent = new Agent({ keepAlive: true });
  const notReady = new Set<string>();
  const stopped = new AbortController();
  let turn = 0;

  async function check(target: string): Promise<void> {
    const url = new URL('/health/ready', target);
    url.port = String(healthPort);
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(10_000)]);
    const isReady = await fetch(url, { signal }).then(
      ({ ok }) => ok,
      () => (signal.aborted ? undefined : false),
    );
    if (isReady) notReady.delete(target);
    else if (isReady === false) notReady.add(target);
  }
  async function keepChecking(target: string): Promise<void> {
    while (!stopped.signal.aborted) {
      await check(target);
      await setTimeout(1_000, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }
  const checks = healthPort === undefined ? [] : targets.map(keepChecking);

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray());
    if (!incoming.url?.startsWith(`${path}/`)) return void outgoing.writeHead(404).end();
    const first = turn++;
    const ready = targets.filter((target) => !notReady.has(target));
    for (let attempt = 0; attempt < ready.length; attempt++) {
      const target = ready[(first + attempt) % ready.length] ?? '';
      try {
        const response = await send(target, incoming, body);
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        return await pipeline(response, outgoing);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) break;
      }
    }
    outgoing.destroy();
  }

  async function send(target: string, { method, url = '', headers }: IncomingMessage, body: Buffer) {
    const outgoing = request(new URL(url.slice(path.length), target), { agent, method, headers });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response;
  }

  // Callers are told the time for which the servers keep a connection: it must not end before.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    forward(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      stopped.abort();
      await Promise.all(checks);
      agent.destroy();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
