import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ehr, type EhrOptions, Refusal } from './ehr.ts';

async function responseTo(ehr: Ehr, request: IncomingMessage): Promise<[status: number, body: object]> {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Readonly<Record<string, unknown>>;
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  try {
    return [200, await ehr.answer(request.url ?? '', token, body)];
  } catch (error) {
    if (error instanceof Refusal) return [error.status, { error: error.message }];
    throw error;
  }
}

export interface EhrServer {
  readonly url: string;
  readonly ehr: Ehr;
  close(): Promise<void>;
}

/** Starts the EHR on a port, or on a free one. */
export async function startEhr({
  port = 0,
  ...options
}: EhrOptions & { readonly port?: number } = {}): Promise<EhrServer> {
  const ehr = new Ehr(options);
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
    ehr,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

if (import.meta.main) {
  const { url } = await startEhr({ port: Number(process.env.EHR_PORT ?? 4400) });
  process.stdout.write(`EHR listening at ${url}\n`);
}
