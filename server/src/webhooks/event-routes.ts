import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { readEvents } from '../events/read-events.ts';
import { inQuery } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import { eventBody } from './event-body.ts';
import {
  appointmentEventSchema,
  type EventBody,
  emrEventSchema,
  eventListSchema,
  eventQuery,
  eventSchema,
  messageEventSchema,
  timeslotEventSchema,
} from './event-contract.ts';

const eventExample: EventBody = {
  id: '0b54f1c6-8c0c-4f2e-9a3a-3f3d1e7b9c11',
  type: 'appointment.updated',
  timestamp: '2026-03-19T12:00:00.000Z',
  emr: 'sandbox-no',
  care_unit_id: 'oslo-sentrum',
  data: {
    appointment_id: 'b3a0f3d2-5a57-4a0a-9f63-0d5e4f1c2b7a',
    cancellation_id: null,
    status: 'booked',
    start: '2026-03-20T10:00:00+01:00',
    end: '2026-03-20T10:30:00+01:00',
    resource_id: 'emr_id:r-1',
    healthcare_service_id: 'consultation',
    changed: ['start', 'end'],
    previous: { start: '2026-03-20T09:00:00+01:00', end: '2026-03-20T09:30:00+01:00', resource_id: 'emr_id:r-1' },
  },
};

const listEvents = endpoint({
  operationId: 'list_events',
  tag: 'Events',
  summary: 'List events',
  description:
    'Events of the care units that the client is granted, in order. A client that has read an event never misses an ' +
    'earlier one. To get the next events, send `next_after` of the previous response as `after`.',
  level: 'client',
  method: 'GET',
  path: '/events',
  audit: 'none',
  scopes: ['appointments:read', 'webhooks:manage'],
  query: eventQuery,
  response: { status: 200, description: 'Events, the oldest first.', schema: eventListSchema },
  reasons: ['cursor_invalid'],
  examples: { response: { events: [eventExample], next_after: 'Zm9v', has_more: false } },
  async handle({ client, query: { after, limit = 100 }, cursors, services: { db } }) {
    const binding = { clientId: client.id, operationId: 'list_events', filters: [] };
    const position = after === undefined ? undefined : Number(cursors.open(after, binding, inQuery('after'))[0]);
    const { events, reached, hasMore, isTooOld, isTooNew } = await readEvents(db, client, position, limit);
    if (isTooOld || isTooNew) {
      const happened = isTooOld ? 'Events after this position have been deleted' : 'There is no event at this position';
      const detail = `${happened}. Start again without \`after\`.`;
      throw problemAt(inQuery('after'), 'cursor_invalid', detail);
    }
    return {
      body: { events: events.map(eventBody), next_after: cursors.seal([reached], binding), has_more: hasMore },
    };
  },
});

export const eventEndpoints: EndpointGroup = {
  schemas: [appointmentEventSchema, messageEventSchema, emrEventSchema, timeslotEventSchema, eventSchema],
  endpoints: [listEvents],
};
