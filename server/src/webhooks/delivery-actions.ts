import type { Tx } from '../db/kysely.ts';
import { inPath } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import { type Delivery, redeliver } from './delivery-store.ts';
import { lockEnabledEndpoint } from './endpoint-actions.ts';
import { startReplay } from './replay.ts';
import { writeTestEvent } from './write-test-event.ts';

/**
 * Sends a test event to one endpoint. Returns the id of the event.
 *
 * @param emr what the event names as its EHR
 * @throws Problem `webhook_endpoint_not_found`, `webhook_endpoint_disabled`
 */
export async function sendTestEvent(tx: Tx, endpointId: string, emr: string): Promise<string> {
  await lockEnabledEndpoint(tx, endpointId);
  return writeTestEvent(tx, endpointId, emr);
}

/**
 * Delivers the event of a delivery again.
 *
 * @throws Problem `webhook_endpoint_not_found`, `webhook_endpoint_disabled`, `webhook_delivery_not_found`
 */
export async function redeliverEvent(tx: Tx, endpointId: string, deliveryId: string): Promise<Delivery> {
  await lockEnabledEndpoint(tx, endpointId);
  const delivery = await redeliver(tx, endpointId, deliveryId);
  if (delivery) return delivery;
  const detail = 'The webhook endpoint has no delivery with this id.';
  throw problemAt(inPath('webhook_delivery_id'), 'webhook_delivery_not_found', detail);
}

/**
 * Delivers every event since a time again. A running replay is replaced.
 *
 * @throws Problem `webhook_endpoint_not_found`, `webhook_endpoint_disabled`
 */
export async function replayEvents(tx: Tx, endpointId: string, from: Date): Promise<void> {
  await lockEnabledEndpoint(tx, endpointId);
  await startReplay(tx, endpointId, from);
}
