import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts an HTTP server on loopback, on a free port unless one is given. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse, body: string, bytes: Buffer) => Promise<void>,
  port = 0,
): Promise<RunningServer> {
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const bytes = Buffer.concat(chunks);
      await handle(request, response, bytes.toString('utf8'), bytes);
    } catch {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  });
  // An idle connection is closed by the caller alone, so that no request meets one that is being closed.
  server.keepAliveTimeout = 0;
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The search parameters, from the URL and from the form of a `_search`. */
export function searchForm(url: URL, request: IncomingMessage, body: string): URLSearchParams {
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return new URLSearchParams([...url.searchParams, ...(isForm ? new URLSearchParams(body) : [])]);
}

export function send(
  response: ServerResponse,
  status: number,
  resource: object | undefined,
  headers: Readonly<Record<string, string>> = {},
  prefix = '',
): void {
  response.writeHead(status, { 'content-type': 'application/fhir+json; charset=utf-8', ...headers });
  response.end(resource === undefined ? undefined : prefix + JSON.stringify(resource));
}
