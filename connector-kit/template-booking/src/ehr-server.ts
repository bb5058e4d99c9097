import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEhr, Rejection } from './ehr.ts';

type Ehr = ReturnType<typeof createEhr>;

async function responseTo(ehr: Ehr, request: IncomingMessage): Promise<[status: number, body: object]> {
  const operation = request.method === 'POST' ? ehr.get(request.url ?? '') : undefined;
  if (!operation) return [404, { error: 'not_found' }];
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as object;
  try {
    return [200, { entries: operation({ ...body, writeId: request.headers['write-id'] }) }];
  } catch (error) {
    if (error instanceof Rejection) return [409, { error: error.message }];
    throw error;
  }
}

export interface EhrServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the EHR on a port, or on a free one. */
export async function startEhr(port = 0): Promise<EhrServer> {
  const ehr = createEhr();
  const server = createServer((request, response) => {
    void responseTo(ehr, request)
      .catch((): [number, object] => [400, { error: 'invalid_request' }])
      .then(([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

if (import.meta.main) {
  const { url } = await startEhr(Number(process.env.EHR_PORT ?? 4400));
  process.stdout.write(`EHR listening at ${url}\n`);
}
