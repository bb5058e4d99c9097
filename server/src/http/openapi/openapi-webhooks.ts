const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/** What the gateway sends to webhook endpoints, as `webhooks` of the OpenAPI description. */
export const openApiWebhooks = {
  event: {
    post: {
      operationId: 'receive_event',
      tags: ['Webhooks'],
      summary: 'Receive an event',
      description:
        'The gateway posts each event to the webhook endpoints that have its type, signed according to Standard Webhooks. The ' +
        'same event can arrive more than once, with the same `webhook-id`.',
      security: [],
      parameters: [
        header('webhook-id', 'Id of the event.'),
        header('webhook-timestamp', 'Time of the attempt, in seconds since 1970.'),
        header('webhook-signature', 'One signature for each valid secret: `v1,{base64}`, separated by spaces.'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } },
      },
      responses: {
        '2XX': { description: 'The event is stored. It is not sent again.' },
        '410': { description: 'The gateway disables the endpoint.' },
        default: { description: 'The gateway sends the event again later.' },
      },
    },
  },
};
