import type { Connection } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type {
  CallOptions,
  NewWebhookEndpoint,
  QueryOf,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointCreation,
  WebhookSecretRotation,
  WriteOptions,
} from './types.ts';

/** The webhook endpoints of the client. */
export interface WebhookEndpoints {
  list(query?: QueryOf<'list_webhook_endpoints'>, options?: CallOptions): List<WebhookEndpoint>;
  get(id: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** The response has the secret, which is not shown again. */
  create(endpoint: WebhookEndpointCreation, options?: WriteOptions): Promise<NewWebhookEndpoint>;
  change(id: string, change: WebhookEndpointChange, options?: WriteOptions): Promise<WebhookEndpoint>;
  delete(id: string, options?: WriteOptions): Promise<void>;
  /** The response has the new secret, which is not shown again. */
  rotateSecret(id: string, rotation?: WebhookSecretRotation, options?: WriteOptions): Promise<NewWebhookEndpoint>;
  /** Sends a test event. Resolves to its id. */
  test(id: string, options?: WriteOptions): Promise<{ readonly event_id: string }>;
  /** Delivers every event since `from` again. */
  replay(id: string, from: Date, options?: WriteOptions): Promise<WebhookEndpoint>;
  /** Deliveries to the endpoint, newest first. */
  deliveries(id: string, query?: QueryOf<'list_webhook_deliveries'>, options?: CallOptions): List<WebhookDelivery>;
  /** Delivers the event of a delivery again. */
  redeliver(id: string, deliveryId: string, options?: WriteOptions): Promise<WebhookDelivery>;
}

export function webhookEndpointMethods({ raw, caller }: Connection): WebhookEndpoints {
  const all = '/api/webhook-endpoints';
  const one = `${all}/{webhook_endpoint_id}` as const;
  const at = (webhook_endpoint_id: string) => ({ params: { path: { webhook_endpoint_id } } });
  return {
    list: (query = {}, options) =>
      listOf('webhook_endpoints', query, (cursor) =>
        caller.read(options, (init) => raw.GET(all, { ...init, params: { query: { ...query, ...cursor } } })),
      ),
    get: (id, options) => caller.read(options, (init) => raw.GET(one, { ...init, ...at(id) })),
    create: (body, options) => caller.write(options, (init) => raw.POST(all, { ...init, body })),
    change: (id, body, options) => caller.write(options, (init) => raw.PATCH(one, { ...init, ...at(id), body })),
    delete: async (id, options) => {
      await caller.write(options, (init) => raw.DELETE(one, { ...init, ...at(id) }));
    },
    rotateSecret: (id, body = {}, options) =>
      caller.write(options, (init) => raw.POST(`${one}/secret`, { ...init, ...at(id), body })),
    test: (id, options) => caller.write(options, (init) => raw.POST(`${one}/test`, { ...init, ...at(id) })),
    replay: (id, from, options) =>
      caller.write(options, (init) =>
        raw.POST(`${one}/replay`, { ...init, ...at(id), body: { from: from.toISOString() } }),
      ),
    deliveries: (webhook_endpoint_id, query = {}, options) =>
      listOf('deliveries', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(`${one}/deliveries`, {
            ...init,
            params: { path: { webhook_endpoint_id }, query: { ...query, ...cursor } },
          }),
        ),
      ),
    redeliver: (webhook_endpoint_id, webhook_delivery_id, options) =>
      caller.write(options, (init) =>
        raw.POST(`${one}/deliveries/{webhook_delivery_id}/redeliver`, {
          ...init,
          params: { path: { webhook_endpoint_id, webhook_delivery_id } },
        }),
      ),
  };
}
