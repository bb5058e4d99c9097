import Type, { type Static } from 'typebox';
import { environmentReference, settingText, webAddress, wholeNumber } from './schema-parts.ts';

function roleValues(role: string) {
  return Type.Optional(
    Type.Array(settingText('A value of the claim.'), {
      description: `Values of \`role_claim\` that give the role \`${role}\`.`,
      minItems: 1,
      uniqueItems: true,
    }),
  );
}

const oidc = Type.Object(
  {
    issuer: webAddress(
      'The issuer, such as `https://login.example.org/realms/clinic`. Its metadata is read from `/.well-known/openid-configuration` below it.',
    ),
    client_id: settingText('Client id of the gateway at the provider.'),
    client_secret: Type.Optional(environmentReference('Client secret. Omit it for a public client.')),
    scopes: Type.Optional(
      Type.Array(settingText('A scope.'), {
        description: 'Scopes to request. Must contain `openid`.',
        uniqueItems: true,
        default: ['openid', 'profile'],
      }),
    ),
    name_claim: Type.Optional(
      settingText('Claim with the name of the operator, as shown in the console and its activity list.'),
    ),
    role_claim: settingText(
      'Claim with the roles or groups of the operator: a text or a list of texts. Dots lead into objects, such as `realm_access.roles`.',
    ),
    roles: Type.Object(
      { view: roleValues('view'), operate: roleValues('operate'), admin: roleValues('admin') },
      {
        description: 'Which values give which role. The highest role counts. Others cannot sign in.',
        additionalProperties: false,
        allOf: [{ minProperties: 1, errorMessage: 'must list values for at least one role' }],
      },
    ),
  },
  { description: 'Sign-in with OpenID Connect.', additionalProperties: false },
);

/** The pages for operators at `/console`. */
export const consoleSchema = Type.Object(
  {
    url: webAddress(
      'URL under which operators reach the gateway, such as `https://gateway.internal.example.org`. The console is not served under other host names.',
    ),
    local_accounts: Type.Optional(
      Type.Boolean({
        description:
          'Whether operators can sign in with accounts of the gateway, which `crossward operators` manages. They need a one-time code (TOTP).',
        default: false,
      }),
    ),
    oidc: Type.Optional(oidc),
    time_zone: Type.Optional(
      settingText(
        'IANA time zone, such as `Europe/Oslo`, in which times are shown beside UTC, and of the dates in forms. Default: the one that most care units have.',
      ),
    ),
    idle_minutes: Type.Optional(
      wholeNumber('Minutes without a request after which a session ends.', { minimum: 1, maximum: 1440, default: 30 }),
    ),
    session_hours: Type.Optional(
      wholeNumber('Hours after which a session ends in any case.', { minimum: 1, maximum: 168, default: 12 }),
    ),
  },
  {
    description: 'Pages for operators at `/console`. Off if omitted.',
    additionalProperties: false,
  },
);
export type ConsoleInFile = Static<typeof consoleSchema>;
