import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OutgoingMessage } from '../sender.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

/** Starts an HTTP server that acts as a provider. */
export async function providerServer(
  respond: (request: Received, response: ServerResponse) => void,
): Promise<ProviderServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    received.push(one);
    respond(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function outgoing(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    id: randomUUID(),
    emr: 'sandbox-se',
    careUnitId: 'lund',
    channel: 'sms',
    to: '+46700000123',
    text: 'Kliniken: Använd koden 739158 för att bekräfta tiden. 100% & mer + å',
    appointmentId: 'a-1',
    ...changes,
  };
}

export const inGoodTime = () => AbortSignal.timeout(5_000);
