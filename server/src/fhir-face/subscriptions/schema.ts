import Type, { type Static } from 'typebox';
import { choice, text } from '../../api/schemas.ts';

const open = { additionalProperties: true };
/** A misspelt element is an error. Extensions of primitive elements are in names with an underscore. */
const closed = { additionalProperties: false, patternProperties: { '^_': {} } };
const line = text({ minLength: 1, maxLength: 2_000 });
const anything = Type.Optional(Type.Unknown());
const extensions = Type.Optional(
  Type.Array(
    Type.Object(
      {
        url: line,
        valueString: Type.Optional(line),
        valueCode: Type.Optional(line),
        valueUnsignedInt: Type.Optional(Type.Integer({ minimum: 0 })),
        valuePositiveInt: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      open,
    ),
    { maxItems: 20 },
  ),
);
/** The extensions of a primitive element. */
const extended = Type.Optional(Type.Object({ extension: extensions }, open));

/** What a client may send: https://hl7.org/fhir/R4/subscription.html */
export const subscriptionSchema = Type.Object(
  {
    resourceType: Type.Literal('Subscription'),
    id: Type.Optional(line),
    status: choice(['requested', 'active', 'error', 'off']),
    reason: line,
    criteria: line,
    _criteria: extended,
    end: Type.Optional(
      Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$' }),
    ),
    channel: Type.Object(
      {
        type: choice(['rest-hook', 'websocket', 'email', 'sms', 'message']),
        _type: anything,
        endpoint: Type.Optional(line),
        payload: Type.Optional(line),
        _payload: extended,
        header: Type.Optional(Type.Array(line, { maxItems: 20 })),
        extension: extensions,
        id: anything,
      },
      closed,
    ),
    // The server's own.
    ...{ error: anything, meta: anything },
    ...{ contact: anything, text: anything, language: anything, contained: anything, extension: anything },
  },
  closed,
);
export type SentSubscription = Static<typeof subscriptionSchema>;
export type SentExtension = NonNullable<SentSubscription['channel']['extension']>[number];
