import Type from 'typebox';
import {
  certificateFile,
  environmentReference,
  settingChoice,
  settingText,
  webAddress,
  wholeNumber,
} from './schema-parts.ts';

function provider<Name extends string>(name: Name, description: string) {
  return Type.Literal(name, { description });
}

const demoMailbox = Type.Object(
  {
    provider: provider(
      'demo_mailbox',
      'Shows messages in the terminal and on a page of the gateway. Requires a loopback host.',
    ),
  },
  { additionalProperties: false },
);

const smsSender = Type.String({
  description: 'Sender of the SMS: a phone number, a short code, or a name.',
  pattern: '^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|[A-Za-z][A-Za-z0-9 ]{0,10})$',
  errorMessage:
    'must be a phone number such as "+46700000000", a short code, or a name of at most 11 letters and digits',
});

const elks = Type.Object(
  {
    provider: provider('46elks', 'https://46elks.com/docs/send-sms'),
    username: settingText('API user name.'),
    password: environmentReference('API password.'),
    from: smsSender,
    base_url: Type.Optional(webAddress("Overrides the provider's URL, for tests.")),
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
        description: 'Messaging service that chooses the sender. Replaces `from`.',
        pattern: '^MG[0-9a-fA-F]{32}$',
        errorMessage: 'must be a Twilio messaging service SID: MG and 32 hexadecimal digits',
      }),
    ),
    base_url: Type.Optional(webAddress("Overrides the provider's URL, for tests.")),
  },
  {
    additionalProperties: false,
    allOf: [
      {
        oneOf: [{ required: ['from'] }, { required: ['messaging_service_sid'] }],
        errorMessage: 'must have either "from" or "messaging_service_sid", not both',
      },
    ],
  },
);

const webhook = Type.Object(
  {
    provider: provider('webhook', 'Your own HTTP endpoint that sends SMS.'),
    url: webAddress('URL to which each SMS is posted as JSON.'),
    secret: environmentReference('Key that signs each request.'),
  },
  { additionalProperties: false },
);

const smtp = Type.Object(
  {
    provider: provider('smtp', 'An SMTP server.'),
    host: Type.String({ description: 'Host name or address.', pattern: '^[^\\s/]+$', errorMessage: 'must be a host' }),
    port: wholeNumber('Port: 465 for `tls: implicit`, usually 587 for `tls: starttls`.', {
      minimum: 1,
      maximum: 65_535,
    }),
    tls: settingChoice(['implicit', 'starttls', 'none'], {
      description: 'Encryption: `implicit` TLS from the start, required `starttls`, or `none`.',
    }),
    allow_plain_text: Type.Optional(
      Type.Boolean({
        description:
          'Allows `tls: none` to another machine. Codes, addresses and the password can then be read and changed by anybody on the way. Default: false.',
      }),
    ),
    ca_file: certificateFile,
    username: Type.Optional(settingText('User name, if the server requires authentication.')),
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

/** Channels for messages to patients. */
export const messagesSchema = Type.Object(
  {
    sms: Type.Optional(Type.Union([demoMailbox, elks, twilio, webhook], { description: 'SMS provider.' })),
    email: Type.Optional(Type.Union([demoMailbox, smtp], { description: 'E-mail provider.' })),
  },
  {
    description: 'Channels for messages to patients. Required if a policy requires codes.',
    additionalProperties: false,
  },
);
