import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Event } from '../../client/src/index.ts';

export interface ReceiverOptions {
  /** The secret of the endpoint. */
  readonly secret: string;
  /** Called once for each event. If it fails, the gateway delivers the event again. */
  onEvent(event: Event): void | Promise<void>;
}

/** More than any event has. */
const mostBytes = 100_000;

/** Receives webhooks: verifies each delivery, and passes each event on once. */
export function createReceiver({ secret, onEvent }: ReceiverOptions): Server {
  const webhook = new Webhook(secret);
  // In a program of your own, store the ids together with what you do about the events.
  const processed = new Set<string>();

  async function receive(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST') return 405;
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    let event: Event;
    try {
      event = webhook.verify(body, request.headers as Record<string, string>) as Event;
    } catch {
      return 401;
    }
    if (!processed.has(event.id)) {
      await onEvent(event);
      processed.add(event.id);
    }
    return 204;
  }

  return createServer((request, response) => {
    void receive(request)
      .catch(() => 500)
      .then((status) => response.writeHead(status).end());
  });
}

/** The bytes as they were sent: the signature is over them. `undefined` if there are too many. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
