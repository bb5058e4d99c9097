import type { StoredEvent } from '../events/stored-event.ts';
import type { EventBody } from './event-contract.ts';

/** An event as callers and webhook endpoints see it. */
export function eventBody({ id, type, occurred_at, emr, care_unit_id, data }: StoredEvent): EventBody {
  return { id, type: type as EventBody['type'], timestamp: occurred_at.toISOString(), emr, care_unit_id, data };
}
