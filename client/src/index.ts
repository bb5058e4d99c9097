import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

type Schemas = components['schemas'];
export type Appointment = Schemas['Appointment'];
export type Problem = Schemas['Problem'];

export interface CrosswardClientOptions {
  /** Base URL of the gateway, without `/api`: `https://gateway.example`. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Default: the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** `GET`, `POST` and `PATCH` by path. Each resolves to `data`, or to the problem as `error`. */
export type CrosswardClient = Client<paths>;

/** Creates a client for one gateway. Every request sends the credentials. */
export function createCrosswardClient(options: CrosswardClientOptions): CrosswardClient {
  const { baseUrl, clientId, clientSecret, fetch } = options;
  return createClient<paths>({
    baseUrl,
    headers: { 'x-service-client-id': clientId, 'x-service-client-secret': clientSecret },
    ...(fetch ? { fetch } : {}),
  });
}
