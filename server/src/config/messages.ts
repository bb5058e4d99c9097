import Type from 'typebox';
import { certificateFile, choice, environmentReference, text, webAddress, wholeNumber } from './schema-parts.ts';

function provider<Name extends string>(name: Name, description: string) {
  return Type.Literal(name, { description });
}

const demoMailbox = Type.Object(
  {
    provider: provider('demo_mailbox', 'Shown in the terminal and on a page of the gateway; on a loopback host only.'),
  },
  { additionalProperties: false },
);

const smsSender = Type.String({
  description: 'Who the SMS is from: a phone number, a short code, or a name.',
  pattern: '^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|[A-Za-z][A-Za-z0-9 ]{0,10})$',
  errorMessage:
    'must be a phone number such as "+46700000000", a short code, or a name of at most 11 letters and digits',
});

const elks = Type.Object(
  {
    provider: provider('46elks', 'https://46elks.com/docs/send-sms'),
    username: text('API user name.'),
    password: environmentReference('API password.'),
    from: smsSender,
    base_url: Type.Optional(webAddress("Another address than the provider's own, for tests.")),
  },
  { additionalProperties: false },
);

const twilio = Type.Object(
  {
    provider: provider('twilio', 'https://www.twilio.com/docs/messaging/api/message-resource'),
    account_sid: Type.String({
      description: 'Account SID.',
      pattern: '^AC[0-9a-fA-F]{32}$',
      errorMessage: 'must be a Twilio account SID: AC and 32 hexadecimal digits',
    }),
    auth_token: environmentReference('Auth token.'),
    from: Type.Optional(smsSender),
    messaging_service_sid: Type.Optional(
      Type.String({
        description: 'Messaging service that chooses the sender; instead of `from`.',
        pattern: '^MG[0-9a-fA-F]{32}$',
        errorMessage: 'must be a Twilio messaging service SID: MG and 32 hexadecimal digits',
      }),
    ),
    base_url: Type.Optional(webAddress("Another address than the provider's own, for tests.")),
  },
  {
    additionalProperties: false,
    allOf: [
      {
        oneOf: [{ required: ['from'] }, { required: ['messaging_service_sid'] }],
        errorMessage: 'must have one of "from" and "messaging_service_sid", and not both',
      },
    ],
  },
);

const webhook = Type.Object(
  {
    provider: provider('webhook', 'Any other way to send an SMS, behind an HTTP endpoint of your own.'),
    url: webAddress('Where each SMS is posted as JSON.'),
    secret: environmentReference('Key of the signature that each request carries.'),
  },
  { additionalProperties: false },
);

const smtp = Type.Object(
  {
    provider: provider('smtp', 'An SMTP server.'),
    host: Type.String({ description: 'Host name or address.', pattern: '^[^\\s/]+$', errorMessage: 'must be a host' }),
    port: wholeNumber('Port: 465 for `tls: implicit`, most often 587 for `starttls`.', { minimum: 1, maximum: 65_535 }),
    tls: choice(['implicit', 'starttls', 'none'], {
      description: 'Encryption: from the first byte, required after STARTTLS, or none.',
    }),
    ca_file: certificateFile,
    username: Type.Optional(text('User name, where the server wants one.')),
    password: Type.Optional(environmentReference('Password of `username`.')),
    from: Type.String({
      description: 'Sender.',
      maxLength: 320,
      pattern: '^([^<>@\\r\\n]*<[^<>@\\s]+@[^<>@\\s]+>|[^<>@\\s]+@[^<>@\\s]+)$',
      errorMessage: 'must be an e-mail address, such as "Oslo Clinic <no-reply@example.org>"',
    }),
  },
  { additionalProperties: false, dependentRequired: { username: ['password'], password: ['username'] } },
);

/** How codes reach patients. */
export const messagesSchema = Type.Object(
  {
    sms: Type.Optional(Type.Union([demoMailbox, elks, twilio, webhook], { description: 'How SMS are sent.' })),
    email: Type.Optional(Type.Union([demoMailbox, smtp], { description: 'How e-mail is sent.' })),
  },
  { description: 'How codes reach patients. Needed where a policy asks for a code.', additionalProperties: false },
);
