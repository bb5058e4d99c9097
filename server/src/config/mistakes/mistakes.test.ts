import { describe, expect, test } from 'vitest';
import { load, mistakesIn, rightFile } from '../test-support.ts';

/** `change`: what to replace in the valid file, or to append to it; then the expected lines. */
type Case = readonly [name: string, change: readonly [string, string] | string, ...lines: string[]];

const withMessages = (sms: string) => `messages:\n  sms: ${sms}\n`;

const scopes =
  'appointments:read, appointments:write, patients:read, patients:write, accesses:read, notes:read, notes:write, documents:read, documents:write, resources:read, schedules:write, webhooks:manage';

const cases: Record<string, readonly Case[]> = {
  YAML: [
    ['a key twice', 'clients: []\n', '17:1: this key is repeated in the same mapping'],
    ['two documents', '---\na: 1\n', '17:1: the file must contain one document; a second one starts here'],
    [
      'an undefined alias',
      ['name: North', 'name: *north'],
      '3:11: unknown alias; put text that starts with * in quotes',
    ],
    ['an alias of itself', ['"NO" }', '"NO", more: &a [*a] }'], '5:42: this alias refers to a value that contains it'],
    ['a tab', ['    name: North', '\tname: North'], '3:1: tabs cannot be used for indentation; use spaces'],
    [
      'an open quote',
      ['name: North', 'name: "North'],
      '3:17: a character is missing here, such as a colon, a comma, a quote or a closing bracket',
    ],
    [
      'a colon in text',
      ['name: North', 'name: North: East'],
      '3:11: text that contains a colon and a space must be in quotes',
    ],
    ['no space after a colon', ['name: North', 'name:North'], '3:9: a space is missing after the colon'],
    ['no space after a hyphen', ['- id: north', '-id: north'], '2:3: a space is missing after the -'],
    ['an unknown tag', ['name: North', 'name: !env North'], '3:11: unknown tag, or the value does not match its tag'],
    [
      'a merge key',
      ['- id: oslo', '- <<: {}\n        id: oslo'],
      '7:9: emrs[0].care_units[0]["<<"]: unknown key; allowed: id, name, time_zone, language, default_country, policies, patient_page, publication, settings',
    ],
  ],
  indentation: [
    [
      'a tab after spaces',
      ['    name: North', '  \tname: North'],
      '3:1: tabs cannot be used for indentation; use spaces',
    ],
    ...(
      [
        [3, '3:4: wrong indentation: this line begins with 3 spaces, but the keys above with 4 or 0'],
        [5, '3:6: wrong indentation: this line begins with 5 spaces, but the keys above with 4'],
        [2, '3:3: wrong indentation: this line begins with 2 spaces, but the keys above with 4 or 0'],
        [0, '4:5: wrong indentation: this line begins with 4 spaces, but the keys above with 0'],
      ] as const
    ).map(
      ([spaces, line]) =>
        [`a key after ${spaces} spaces`, ['    name: North', `${' '.repeat(spaces)}name: North`], line] as const,
    ),
    [
      'an entry that is not below the others',
      ['        language: nb', '        language: nb\n    - id: bergen\n      name: Bergen'],
      '11:5: wrong indentation: this line begins with 4 spaces, but the list entries above with 6 or 2',
    ],
    [
      'a key after text of several lines, a list in brackets and a comment',
      [
        '    name: North',
        '    name: |\n      North: at\n       the sea\n    more: [a,\n      b]\n# 1\n   connector: remote',
      ],
      '9:4: wrong indentation: this line begins with 3 spaces, but the keys above with 4 or 0',
    ],
    [
      'a file whose first line is indented',
      ['emrs:', ' emrs:'],
      '11:1: wrong indentation: this line begins with 0 spaces, but the keys above with 1',
    ],
    [
      'keys that are not below their mapping',
      ['    care_units:', '    policies:\n    booking_confirmation: none\n    care_units:'],
      '6:5: emrs[0].policies: is empty; must be a mapping: indent its keys below it',
      '7:5: emrs[0].booking_confirmation: unknown key here; it belongs to emrs.policies: is it indented too little?',
    ],
    [
      'a key of the file in an entry',
      '    limits: { requests_per_minute: 60 }\n',
      '17:5: clients[0].limits: unknown key here; it belongs to the top level of the file: is it indented too far?',
    ],
    [
      'a key of an entry in the file',
      ['    care_units:', 'care_units:'],
      '2:5: emrs[0]: the key "care_units" is missing: Care units of the EHR.',
      '6:1: care_units: unknown key here; it belongs to an entry of emrs: is it indented too little?',
    ],
    [
      'entries without a hyphen',
      ['      - emr: north', '      emr: north'],
      '16:7: clients[0].grants: must be a list, not a mapping: begin each entry with "- "',
    ],
  ],
  shape: [
    [
      'a list instead of a mapping',
      ['{ country: "NO" }', '[NO]'],
      '5:15: emrs[0].settings: must be a mapping, not a list',
    ],
    ['text that reads as a number', ['name: North', 'name: 47'], '3:11: emrs[0].name: must be text: put it in quotes'],
    [
      'an id that reads as a number',
      ['id: oslo', 'id: 47'],
      '7:13: emrs[0].care_units[0].id: must be text: put it in quotes',
    ],
    ['an empty value', ['name: North', 'name:'], '3:5: emrs[0].name: is empty; must be text'],
    [
      'an id with an upper-case letter',
      ['id: oslo', 'id: Oslo'],
      '7:13: emrs[0].care_units[0].id: must be 1 to 63 lower-case letters, digits and hyphens, and must not start with a hyphen',
    ],
    [
      'an unknown key without similar names',
      ['name: North', 'name: North\n    colour: red'],
      '4:5: emrs[0].colour: unknown key; allowed: id, name, connector, settings, synthetic_identifiers, check_digits, reserve_numbers, default_country, connection, policies, patient_page, care_units',
    ],
    [
      'the name of a prototype property',
      '__proto__: 1\n',
      '17:1: __proto__: unknown key; allowed: emrs, clients, services, messages, limits, documents, identifier_types, identifier_headers, http, retention, audit, webhooks, console',
    ],
    [
      'a client certificate without its key',
      ['    care_units:', '    connection: { tls: { client_certificate: client.pem } }\n    care_units:'],
      '6:24: emrs[0].connection.tls: the key "client_key" is missing: PEM file with the certificate\'s private key, without a passphrase, or the environment variable that contains it.',
    ],
    [
      'a key in the file itself',
      [
        '    care_units:',
        '    connection: { tls: { client_certificate: client.pem, client_key: { pem: "x" } } }\n    care_units:',
      ],
      '6:70: emrs[0].connection.tls.client_key: must be the path of a PEM file, or { env: NAME } with the name of an environment variable',
    ],
    [
      'a reserved header',
      'identifier_headers: [patient-number, X-Service-Client-Id]\n',
      '17:38: identifier_headers[1]: "X-Service-Client-Id" is reserved and cannot contain an identifier',
    ],
    [
      'a reserved header for users',
      ['    care_units:', '    connection: { user_header: Authorization }\n    care_units:'],
      '6:32: emrs[0].connection.user_header: "Authorization" is reserved and cannot contain a user',
    ],
    [
      'an invalid header',
      'identifier_headers: ["patient number"]\n',
      '17:22: identifier_headers[0]: must be the name of a request header with at most 40 characters',
    ],
    [
      'a number out of range',
      'limits: { requests_per_minute: 0 }\n',
      '17:32: limits.requests_per_minute: must be from 1 to 100000000',
    ],
    [
      'a proxy that is not an address',
      'http: { trusted_proxies: [10.0.0.0/8, 10.0.0.0/33] }\n',
      '17:39: http.trusted_proxies[1]: "10.0.0.0/33" is not an IP address or a range such as 10.0.0.0/8',
    ],
    [
      'a page in place of an origin',
      'http: { discovery_origins: ["*", "https://portal.example.org/start"] }\n',
      '17:34: http.discovery_origins[1]: must be an origin, such as https://portal.example.org without a path, or *',
    ],
    [
      'a scope that does not exist',
      ['[appointments:read]', '[appointment:read]'],
      `14:14: clients[0].scopes[0]: "appointment:read" is unknown; must be one of ${scopes}; did you mean "appointments:read"?`,
    ],
    [
      'a scope twice',
      ['[appointments:read]', '[appointments:read, appointments:read]'],
      '14:33: clients[0].scopes[1]: is repeated in the list',
    ],
    ['no secret', ['[{ env: ACME_CLIENT_SECRET }]', '[]'], '13:14: clients[0].secrets: must have at least one entry'],
  ],
  connectors: [
    [
      'an unknown connector',
      ['connector: sandbox', 'connector: sandbix'],
      '4:16: emrs[0].connector: "sandbix" is unknown; must be one of sandbox, remote, an installed package, or a file such as ./our-ehr.js; did you mean "sandbox"?',
    ],
    [
      'the beginning of a connector',
      ['connector: sandbox', 'connector: rem'],
      '4:16: emrs[0].connector: "rem" is unknown; must be one of sandbox, remote, an installed package, or a file such as ./our-ehr.js; did you mean "remote"?',
    ],
    ['missing settings', ['    settings: { country: "NO" }\n', ''], '2:5: emrs[0]: the key "settings" is missing'],
    [
      'settings of another connector',
      ['connector: sandbox', 'connector: remote'],
      '5:17: emrs[0].settings.country: unknown key; allowed: token, pages, base_url, auth, system',
    ],
  ],
  messages: [
    [
      'an unknown provider',
      withMessages('{ provider: 46elk, user: x }'),
      '18:20: messages.sms.provider: "46elk" is unknown; must be one of demo_mailbox, 46elks, twilio, webhook; did you mean "46elks"?',
    ],
    [
      'no provider',
      withMessages('{ username: x }'),
      '18:8: messages.sms: the key "provider" is missing: must be one of demo_mailbox, 46elks, twilio, webhook',
    ],
    ['a provider as a string', withMessages('demo_mailbox'), '18:8: messages.sms: must be a mapping, not text'],
    [
      'a mistake in the selected provider only',
      withMessages('{ provider: webhook, url: "https://me:pw@example.org/", secret: { env: ACME_CLIENT_SECRET } }'),
      '18:34: messages.sms.url: must be a URL that starts with https:// or http:// and contains no user name or password',
    ],
    [
      'an SMS webhook without TLS',
      withMessages('{ provider: webhook, url: "http://sms.example.org/", secret: { env: ACME_CLIENT_SECRET } }'),
      '18:34: messages.sms.url: must start with https://, because codes are sent there; http:// is allowed for loopback addresses only',
    ],
    [
      'an SMS provider without TLS',
      withMessages(
        '{ provider: 46elks, base_url: "http://10.0.0.7", username: u, password: { env: ACME_CLIENT_SECRET }, from: Clinic }',
      ),
      '18:38: messages.sms.base_url: must start with https://, because codes are sent there; http:// is allowed for loopback addresses only',
    ],
    [
      'an SMTP server on another machine without TLS',
      'messages:\n  email: { provider: smtp, host: mail.example.org, port: 25, tls: none, from: a@example.org }\n',
      '18:67: messages.email.tls: must be implicit or starttls, because codes and the password are sent there; none is allowed for loopback addresses, and with allow_plain_text: true',
    ],
    [
      'a number as the sender',
      withMessages('{ provider: 46elks, username: u, password: { env: ACME_CLIENT_SECRET }, from: +4670000000 }'),
      '18:86: messages.sms.from: must be text: put it in quotes',
    ],
    [
      'no sender',
      withMessages(`{ provider: twilio, account_sid: AC${'0'.repeat(32)}, auth_token: { env: ACME_CLIENT_SECRET } }`),
      '18:8: messages.sms: must have either "from" or "messaging_service_sid", not both',
    ],
    [
      'a password without a user name',
      'messages:\n  email: { provider: smtp, host: h, port: 25, tls: starttls, from: a@example.org, password: { env: ACME_CLIENT_SECRET } }\n',
      '18:10: messages.email: the key "username" is missing: User name, if the server requires authentication.',
    ],
  ],
  rules: [
    [
      'an offset in place of a time zone',
      ['Europe/Oslo', '"+01:00"'],
      '9:20: emrs[0].care_units[0].time_zone: "+01:00" is not an IANA time zone, such as Europe/Oslo',
    ],
    [
      'a country without phone numbers',
      ['language: nb', 'language: nb\n        default_country: XX'],
      '11:26: emrs[0].care_units[0].default_country: "XX" is not a country with phone numbers',
    ],
    [
      'a care unit twice',
      ['clients:', '      - { id: oslo, name: O, time_zone: UTC, language: nb }\nclients:'],
      '11:15: emrs[0].care_units[1].id: "oslo" is already the id of care_units[0]; each must be unique',
    ],
    [
      'a client name that changes the direction of text',
      ['  - id: acme', '  - id: acme\n    name: "Acme \\u202Etis"'],
      '13:11: clients[0].name: must not contain control characters, or characters that are invisible or change the direction of text',
    ],
    [
      'an EHR granted twice',
      '      - emr: north\n',
      '17:14: clients[0].grants[1].emr: "north" is already the emr of grants[0]; each must be unique',
    ],
    [
      'an unknown care unit',
      ['- emr: north', '- { emr: north, care_units: [oslo, bergen] }'],
      '16:42: clients[0].grants[0].care_units[1]: "bergen" is not a care unit of north in this file; known: oslo',
    ],
    [
      'codes without a message provider',
      ['language: nb', 'language: nb\n        policies: { booking_confirmation: code }'],
      '11:43: emrs[0].care_units[0].policies.booking_confirmation: requires a message channel: set messages.sms or messages.email',
    ],
    [
      'cancellation codes with e-mail only',
      ['    care_units:', '    policies: { cancellation_confirmation: code }\n    care_units:'],
      '6:44: emrs[0].policies.cancellation_confirmation: requires a message channel: set messages.sms, or messages.email with cancellation_code_by_email: true',
    ],
    [
      'codes that can be guessed, by their attempts',
      ['    care_units:', '    policies: { code: { length: 5, attempts: 11 } }\n    care_units:'],
      '6:46: emrs[0].policies.code.attempts: code.attempts 11 with code.length 5 lets a code be guessed; a code of 5 digits can have at most 10 attempts',
    ],
    [
      'codes that can be guessed, by their length',
      ['    care_units:', '    policies: { code: { length: 4 } }\n    care_units:'],
      '6:33: emrs[0].policies.code.length: code.attempts 5 with code.length 4 lets a code be guessed; a code of 4 digits can have one attempt',
    ],
    [
      'codes of a care unit that can be guessed with the attempts of the EHR',
      [
        '    care_units:\n      - id: oslo',
        '    policies: { code: { attempts: 20 } }\n    care_units:\n      - id: oslo\n        policies: { code: { length: 5 } }',
      ],
      '9:37: emrs[0].care_units[0].policies.code.length: code.attempts 20 with code.length 5 lets a code be guessed; a code of 5 digits can have at most 10 attempts',
    ],
    [
      'codes of the EHR that can be guessed with the attempts of a care unit',
      [
        '    care_units:\n      - id: oslo',
        '    policies: { code: { length: 4, attempts: 1 } }\n    care_units:\n      - id: oslo\n        policies: { code: { attempts: 2 } }',
      ],
      '9:39: emrs[0].care_units[0].policies.code.attempts: code.attempts 2 with code.length 4 lets a code be guessed; a code of 4 digits can have one attempt',
    ],
    [
      'colours that are hard to see',
      [
        'language: nb',
        'language: nb\n        patient_page:\n          accent_color: "#ffcc00"\n          dark_accent_color: "#0b5c8a"',
      ],
      '12:25: emrs[0].care_units[0].patient_page.accent_color: has a contrast of 1.51:1 to #ffffff, and needs at least 4.5:1 (WCAG 2.2)',
      '13:30: emrs[0].care_units[0].patient_page.dark_accent_color: has a contrast of 2.25:1 to #1a2128, and needs at least 4.5:1 (WCAG 2.2)',
    ],
    [
      'a colour by name',
      ['    care_units:', '    patient_page: { accent_color: navy }\n    care_units:'],
      '6:35: emrs[0].patient_page.accent_color: must be a colour such as "#0b5c8a": # and six hexadecimal digits',
    ],
    [
      'links in messages without an address for them',
      ['    care_units:', '    patient_page: { link_in_messages: true }\n    care_units:'],
      '6:39: emrs[0].patient_page.link_in_messages: requires http.public_url',
    ],
    [
      'pages without TLS',
      'http: { public_url: "http://appointments.example.org" }\n',
      '17:21: http.public_url: must start with https://, because patients enter codes there; http:// is allowed for loopback only',
    ],
    [
      'pages at a URL with a query',
      'http: { public_url: "https://example.org/?clinic=1" }\n',
      '17:21: http.public_url: must not contain a query or fragment',
    ],
    [
      'return URLs without TLS, or with a query',
      '    return_urls: ["http://example.org/done", "https://example.org/?a=b"]\n',
      '17:19: clients[0].return_urls[0]: must start with https://; http:// is allowed for loopback addresses only',
      '17:46: clients[0].return_urls[1]: must not contain a query or fragment',
    ],
    [
      'a console without TLS, without a way to sign in',
      'console: { url: "http://gateway.example.org" }\n',
      '17:10: console: needs a way to sign in: set local_accounts: true, or oidc, or both',
      '17:17: console.url: must start with https://, because operators enter passwords there; http:// is allowed for loopback only',
    ],
    [
      'retries that end after the event is deleted',
      'webhooks: { retry_seconds: [86400, 60, 86400] }\nretention: { event_days: 2 }\n',
      '17:28: webhooks.retry_seconds: the pauses total 172860 seconds; events are deleted after 2 days (retention.event_days), which is 172800 seconds',
    ],
    [
      'a provider without TLS, scopes without openid',
      'console: { url: "https://gateway.example.org", oidc: { issuer: "http://login.example.org", client_id: a, scopes: [email], role_claim: groups, roles: { view: [staff] } } }\n',
      '17:64: console.oidc.issuer: must start with https://, because it decides who is an operator; http:// is allowed for loopback only',
      '17:114: console.oidc.scopes: must contain openid',
    ],
    [
      'no value that gives a role',
      'console: { url: "https://gateway.example.org", oidc: { issuer: "https://login.example.org", client_id: a, role_claim: groups, roles: {} } }\n',
      '17:134: console.oidc.roles: must list values for at least one role',
    ],
  ],
};

for (const [group, members] of Object.entries(cases)) {
  describe(group, () => {
    test.each(members)('%s', async (_name, change, ...lines) => {
      const file = typeof change === 'string' ? rightFile + change : rightFile.replace(...change);
      expect(await mistakesIn(file)).toEqual(lines.map((line) => `crossward.yaml:${line}`));
    });
  });
}

test('limits the expansion of aliases', async () => {
  const layers = Array.from('bcdefgh', (name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]\n`);
  expect(await mistakesIn(`a: &a [x]\n${layers.join('')}`)).toEqual([
    'crossward.yaml:1:1: the aliases in this file expand to too many values',
  ]);
});

test.each(['https://sms.example.org', 'http://127.0.0.1:9000/sms', 'http://[::1]:9000', 'http://localhost/sms'])(
  'SMS may be posted to %s',
  async (url) => {
    const sms = `{ provider: webhook, url: "${url}", secret: { env: ACME_CLIENT_SECRET } }`;
    expect((await load(rightFile + withMessages(sms))).messages.sms).toMatchObject({ url });
  },
);

test.each(['{ length: 4, attempts: 1 }', '{ length: 5, attempts: 10 }', '{ attempts: 20 }', '{ length: 10 }'])(
  'codes may be %s',
  async (code) => {
    const file = rightFile.replace('    care_units:', `    policies: { code: ${code} }\n    care_units:`);
    await expect(load(file)).resolves.toBeDefined();
  },
);

test('a policy that every care unit overrides requires no messages', async () => {
  const file = rightFile
    .replace('    care_units:', '    policies: { booking_confirmation: code }\n    care_units:')
    .replace('language: nb', 'language: nb\n        policies: { booking_confirmation: none }');
  await expect(load(file)).resolves.toBeDefined();
});

test('cancellation codes can be sent by e-mail if the policy allows it', async () => {
  const file = `${rightFile.replace(
    '    care_units:',
    '    policies: { cancellation_confirmation: code, cancellation_code_by_email: true }\n    care_units:',
  )}messages:\n  email: { provider: demo_mailbox }\n`;
  await expect(load(file)).resolves.toBeDefined();
});

test('the page for patients takes settings from the EHR and then from the care unit', async () => {
  const file = rightFile
    .replace('    care_units:', '    patient_page: { name: North Clinic, phone: "22 00 00 00" }\n    care_units:')
    .replace('language: nb', 'language: nb\n        patient_page: { name: North Clinic Oslo, link_in_messages: true }');
  const { emrs, http } = await load(`${file}http: { public_url: "https://example.org/booking/" }\n`);
  expect(http.public_url).toBe('https://example.org/booking');
  expect(emrs[0]?.care_units[0]?.patient_page).toEqual({
    name: 'North Clinic Oslo',
    phone: '22 00 00 00',
    link_in_messages: true,
    accent_color: '#0b5c8a',
    dark_accent_color: '#7cc4f0',
  });
});

test('the console takes defaults, and secrets from the environment', async () => {
  const oidc =
    '{ issuer: "https://login.example.org", client_id: a, client_secret: { env: ACME_CLIENT_SECRET }, role_claim: groups, roles: { view: [staff] } }';
  const { console } = await load(`${rightFile}console: { url: "https://gateway.example.org/", oidc: ${oidc} }\n`);
  expect(console).toMatchObject({
    url: 'https://gateway.example.org',
    local_accounts: false,
    idle_minutes: 30,
    session_hours: 12,
    oidc: { scopes: ['openid', 'profile'] },
  });
  expect(JSON.stringify(console)).toContain('"client_secret":"[secret]"');
  expect((await load(rightFile)).console).toBeUndefined();
});
