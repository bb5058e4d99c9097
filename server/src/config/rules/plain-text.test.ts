import { describe, expect, test } from 'vitest';
import { load, mistakesIn, rightFile } from '../test-support.ts';
import { allowedPlainText } from './plain-text.ts';

const remote = (settings: string, connection = '{}') =>
  rightFile
    .replace('connector: sandbox', 'connector: remote')
    .replace('settings: { country: "NO" }', `settings: ${settings}\n    connection: ${connection}`);
const withEmail = (more: string) =>
  `${rightFile}messages:\n  email: { provider: smtp, port: 25, from: a@example.org, ${more} }\n`;

describe('an EHR at another machine', () => {
  const text =
    'must start with https://, because patients and credentials are sent there; http:// is allowed for loopback addresses, and with connection.allow_plain_text: true';

  test.each(['http://10.0.0.7/fhir', 'http://ehr.example.org', 'HTTP://[fd00::1]:8080'])('has no %s', async (url) => {
    expect(await mistakesIn(remote(`{ base_url: "${url}" }`))).toEqual([
      `crossward.yaml:5:27: emrs[0].settings.base_url: ${text}`,
    ]);
    expect(await mistakesIn(remote(`{ base_url: "${url}" }`, '{ allow_private_addresses: true }'))).toHaveLength(1);
  });

  test('has no token endpoint without TLS', async () => {
    expect(
      await mistakesIn(remote('{ base_url: "https://a.example", auth: { token_url: "http://b.example" } }')),
    ).toEqual([`crossward.yaml:5:67: emrs[0].settings.auth.token_url: ${text}`]);
  });

  test.each([
    '{ base_url: "https://ehr.example.org" }',
    '{ base_url: "http://127.0.0.1:8080/fhir" }',
    '{ base_url: "http://[::1]:8080" }',
    '{ base_url: "http://localhost" }',
    '{ system: "http://loinc.org" }',
  ])('or at this one can have %s', async (settings) => {
    expect(allowedPlainText(await load(remote(settings, '{ allow_plain_text: true }')))).toEqual([]);
  });

  test('can have http:// if the connection allows plain text, which is said at the start', async () => {
    const file = remote('{ base_url: "http://10.0.0.7/fhir" }', '{ allow_plain_text: true }');
    expect(allowedPlainText(await load(file))).toEqual([['emrs', 0, 'settings', 'base_url']]);
  });
});

describe('an SMTP server at another machine', () => {
  test.each(['mail.example.org', '10.0.0.25', 'fd00::1'])('needs TLS: %s', async (host) => {
    expect(await mistakesIn(withEmail(`host: "${host}", tls: none`))).toHaveLength(1);
  });

  test.each(['host: mail.example.org, tls: starttls', 'host: 127.0.0.1, tls: none', 'host: localhost, tls: none'])(
    'or at this one can have %s',
    async (settings) => {
      expect(allowedPlainText(await load(withEmail(settings)))).toEqual([]);
    },
  );

  test('can do without if the channel allows plain text, which is said at the start', async () => {
    const file = withEmail('host: 10.0.0.25, tls: none, allow_plain_text: true');
    expect(allowedPlainText(await load(file))).toEqual([['messages', 'email', 'tls']]);
  });
});
