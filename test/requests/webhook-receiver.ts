import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Configuration } from '../../server/src/config/configuration.ts';
import type { Gateway, RequestOptions } from '../gateway/gateway.ts';
import { freePort } from '../processes/free-port.ts';
import { eventually } from './codes.ts';
import type { Event } from './events.ts';

/** A request that a receiver got. */
export interface Received {
  readonly event: Event;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The status that was sent. 0: the connection was closed without one. */
  readonly status: number;
}

/** Sends a response, or does not. */
export type Behaviour = (response: ServerResponse, event: Event, request: IncomingMessage) => void | Promise<void>;

export interface Receiver {
  readonly url: string;
  /** In the order of arrival. */
  readonly received: readonly Received[];
  /** The events that were accepted with 2xx, without repetitions. */
  accepted(): readonly Event[];
  behave(behaviour: Behaviour): void;
  /** Stops listening: connections are refused until `comeBack`. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** Responds with a status and nothing else. */
export const status = (code: number) =>
  ((response) => {
    response.writeHead(code).end();
  }) satisfies Behaviour;

/** A real HTTP server that gets webhooks. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let behaviour: Behaviour = status(204);
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const event = JSON.parse(body) as Event;
    response.on('close', () => {
      const sent = response.writableFinished ? response.statusCode : 0;
      received.push({ event, headers: request.headers as Record<string, string>, body, status: sent });
    });
    await behaviour(response, event, request);
  };
  let server = createServer((request, response) => void listener(request, response).catch(() => response.destroy()));
  // Nobody else gets it while the receiver is down.
  const port = await freePort();
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await listen();
  return {
    url: `http://127.0.0.1:${port}/hooks?token=kanari-url-token`,
    received,
    accepted() {
      const events = received.filter((it) => it.status >= 200 && it.status < 300).map(({ event }) => event);
      return [...new Map(events.map((event) => [event.id, event])).values()];
    },
    behave(next) {
      behaviour = next;
    },
    goDown: close,
    async comeBack() {
      server = createServer((request, response) => void listener(request, response).catch(() => response.destroy()));
      await listen();
    },
    close,
  };
}

/** Lets a gateway deliver to receivers of tests, and retry soon: a receiver can be down for most of a minute. */
export function withQuickWebhooks(configuration: Configuration): Configuration {
  const retry_seconds = Array.from({ length: 50 }, (_, attempt) => (attempt < 5 ? 0 : 1));
  const webhooks = { ...configuration.webhooks, allow_private_addresses: true, allow_http: true, retry_seconds };
  return { ...configuration, webhooks };
}

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly event_types: readonly string[] | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabled_reason: string | null;
  readonly replaying: boolean;
  readonly previous_secret_expires_at: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly response_status: number | null;
  readonly reason: string | null;
}

/** The webhook operations of a client. */
export function webhooksOf(gateway: Gateway, client: RequestOptions['client'] = 'everything') {
  const call = async <Body>(method: string, path: string, body?: object) => {
    const options = { client, ...(body === undefined ? {} : { body }) };
    return gateway.request<Body>(method, `/api/webhook-endpoints${path}`, options);
  };
  return {
    call,
    async create(url: string, event_types?: readonly string[]): Promise<Endpoint> {
      const response = await call<Endpoint>('POST', '', { url, ...(event_types ? { event_types } : {}) });
      if (response.status !== 201) throw new Error(`Creating the endpoint failed: ${response.text}`);
      return response.body;
    },
    deliveries: async (id: string, query = '') =>
      (await call<{ deliveries: readonly Delivery[] }>('GET', `/${id}/deliveries${query}`)).body.deliveries,
    /** Waits until no delivery is pending and `count` have ended. */
    ended: (id: string, count: number): Promise<readonly Delivery[]> =>
      eventually(async () => {
        const { body } = await call<{ deliveries: readonly Delivery[] }>('GET', `/${id}/deliveries?limit=500`);
        const ended = body.deliveries.filter((it) => it.status !== 'pending');
        if (ended.length < count || ended.length < body.deliveries.length)
          throw new Error(`${ended.length} of ${count} deliveries have ended`);
        return ended;
      }),
  };
}

/** Verifies the signature with the library that receivers use. Throws if it is wrong. */
export function verify({ body, headers }: Received, secret: string): Event {
  return new Webhook(secret).verify(body, headers) as Event;
}
