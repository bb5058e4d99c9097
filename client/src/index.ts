import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

type Schemas = components['schemas'];
export type Appointment = Schemas['Appointment'];
export type Problem = Schemas['Problem'];

export interface CrosswardClientOptions {
  /** Where the gateway is, without `/api`: `https://gateway.example`. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Default: the global one. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** `GET`, `POST` and `PATCH` by path. Each answers with `data`, or with the problem as `error`. */
export type CrosswardClient = Client<paths>;

/** A client of one gateway. Every call carries its credentials. */
export function createCrosswardClient(options: CrosswardClientOptions): CrosswardClient {
  const { baseUrl, clientId, clientSecret, fetch } = options;
  return createClient<paths>({
    baseUrl,
    headers: { 'x-service-client-id': clientId, 'x-service-client-secret': clientSecret },
    ...(fetch ? { fetch } : {}),
  });
}
