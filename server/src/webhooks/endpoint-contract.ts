import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { choice, nullableChoice, nullableInteger, nullableString, reference, text } from '../api/schemas.ts';
import { longestEhrUrl } from '../ehr/guard/address-rules.ts';
import { eventTypes } from '../events/event-types.ts';
import { subscriptionStatuses } from './endpoint.ts';
import { overlap } from './endpoint-actions.ts';
import { attemptFailures } from './send-delivery.ts';

const dateTime = (description: string) => Type.String({ format: 'date-time', description });
const wanted = (description: string) => Type.Array(choice(eventTypes), { minItems: 1, uniqueItems: true, description });
const allOrSome = Type.Unsafe<Static<ReturnType<typeof wanted>> | null>({
  anyOf: [wanted('Types of events to deliver.'), Type.Null()],
  description: 'Types of events to deliver. Null: all.',
});

const subscriptionSchema = Type.Object({
  emr: Type.String({ description: 'Id of the EHR.' }),
  care_unit_id: Type.String({ description: 'The care unit of whose appointments it is told.' }),
  status: choice(subscriptionStatuses, { description: 'As the Subscription says.' }),
});

const shape = {
  id: Type.String(),
  url: Type.String({ description: 'Where events are posted.' }),
  event_types: allOrSome,
  status: choice(['enabled', 'disabled'], { description: 'A disabled endpoint gets no events.' }),
  disabled_reason: nullableChoice(['client', 'gone', 'failed'], {
    description:
      '`client`: disabled by a request. `gone`: it responded with 410. `failed`: of a Subscription, the handshake or the last attempt of a delivery has failed. Null if enabled.',
  }),
  previous_secret_expires_at: nullableString({
    format: 'date-time',
    description: 'Until then, deliveries are also signed with a previous secret. Null without one.',
  }),
  failing_since: nullableString({
    format: 'date-time',
    description:
      'Since when it has taken no event: when the first of the deliveries was created that have failed for more than a minute, ' +
      'none of which has succeeded since. Null: it works, has got no event yet, or is disabled.',
  }),
  replaying: Type.Boolean({ description: 'Whether deliveries of a replay are still being created.' }),
  created_at: dateTime('When it was created.'),
  subscription: Type.Unsafe<Static<typeof subscriptionSchema> | null>({
    anyOf: [subscriptionSchema, Type.Null()],
    description: 'Of a Subscription of the FHIR interface, which gets notifications in FHIR. Otherwise null.',
  }),
};
export const endpointSchema = Type.Object(shape, {
  $id: 'WebhookEndpoint',
  description: 'A URL of the client to which the gateway posts events.',
});
export type EndpointBody = Static<typeof endpointSchema>;

const secret = Type.String({
  description: 'Key that signs the deliveries: `whsec_` and base64. Shown only in this response.',
});
export const newEndpointSchema = Type.Object(
  { ...shape, secret },
  { $id: 'NewWebhookEndpoint', description: 'A webhook endpoint with its secret.' },
);

export const endpointListSchema = Type.Object({
  webhook_endpoints: Type.Array(reference<EndpointBody>('WebhookEndpoint')),
  next_cursor: nextCursor,
});

const url = text({
  minLength: 1,
  maxLength: longestEhrUrl,
  description: 'An `https://` URL without user name, password and fragment, with a public address.',
});
export const endpointCreationSchema = Type.Object(
  { url, event_types: Type.Optional(allOrSome) },
  { $id: 'WebhookEndpointCreation', additionalProperties: false },
);
export const endpointChangeSchema = Type.Object(
  {
    url: Type.Optional(url),
    event_types: Type.Optional(allOrSome),
    status: Type.Optional(
      choice(['enabled', 'disabled'], { description: '`disabled` also ends the deliveries that are pending.' }),
    ),
  },
  { $id: 'WebhookEndpointChange', additionalProperties: false, minProperties: 1 },
);

export const rotationSchema = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlap.longest,
        description:
          'How long deliveries are also signed with the previous secret. Those before it sign until their own ends. 0: all end at once. Default: a day.',
      }),
    ),
  },
  { $id: 'WebhookSecretRotation', additionalProperties: false },
);

export const replaySchema = Type.Object(
  {
    from: Type.String({
      format: 'date-time',
      description: 'Every event since this time is delivered again. RFC 3339 with an offset.',
    }),
  },
  { $id: 'WebhookReplay', additionalProperties: false },
);

export const testEventSchema = Type.Object(
  { event_id: Type.String({ description: 'Id of the event, which has the type `webhook.test`.' }) },
  { $id: 'WebhookTest' },
);

export const deliverySchema = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String(),
    event_type: Type.String(),
    status: choice(['pending', 'delivered', 'failed'], {
      description: '`pending`: the first attempt or a retry is due. `failed`: there are no more attempts.',
    }),
    attempts: Type.Integer({ description: 'Attempts so far.' }),
    created_at: dateTime('When it was created.'),
    last_attempt_at: nullableString({ format: 'date-time', description: 'Null before the first attempt.' }),
    next_attempt_at: nullableString({ format: 'date-time', description: 'Null once it has ended.' }),
    completed_at: nullableString({ format: 'date-time', description: 'Null while it is pending.' }),
    response_status: nullableInteger({ description: 'HTTP status of the last response. Null without one.' }),
    reason: nullableChoice([...attemptFailures, 'endpoint_disabled', 'not_granted'], {
      description:
        'Why the last attempt failed, or was not made. `status`: the response was not 2xx. `address_rejected`: the URL ' +
        'or its address is not allowed. `connection_failed`: another failure of the connection. `not_granted`: the client is no longer granted the care unit. Null without a failure.',
    }),
  },
  { $id: 'WebhookDelivery', description: 'A delivery of an event to an endpoint, with its attempts.' },
);
export type DeliveryBody = Static<typeof deliverySchema>;

export const deliveryListSchema = Type.Object({
  deliveries: Type.Array(reference<DeliveryBody>('WebhookDelivery')),
  next_cursor: nextCursor,
});

export const deliveryQuery = {
  status: Type.Optional(
    choice(['pending', 'delivered', 'failed'], { description: 'Returns deliveries in this status.' }),
  ),
  ...pagingQuery,
};
