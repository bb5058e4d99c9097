import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { hashSecret } from '../configuration.ts';
import { Secret } from '../environment/secret.ts';
import {
  clientSecret,
  errorFrom,
  fakeConnectors,
  load,
  mistakesIn,
  rightFile,
  temporaryFolder,
} from '../test-support.ts';
import { loadConfiguration } from './load.ts';

test('applies defaults, resolves grants and hashes secrets from the environment', async () => {
  const policies = {
    booking_confirmation: 'none',
    cancellation_confirmation: 'none',
    cancellation_code_by_email: false,
    code: { length: 6, lifetime_seconds: 600, attempts: 5 },
    limits_per_patient: { pending: 5, codes_per_hour: 10 },
  };
  expect(await load(rightFile)).toEqual({
    emrs: [
      {
        id: 'north',
        name: 'North',
        connector: 'sandbox',
        settings: { country: 'NO' },
        synthetic_identifiers: false,
        connection: {
          connect_timeout_ms: 3000,
          request_timeout_ms: 10_000,
          timeout_ms: 20_000,
          concurrency: 20,
          queue: 500,
          queue_timeout_ms: 10_000,
          retries: 2,
          breaker: { failures: 5, reset_seconds: 10 },
          changes_seconds: 30,
          transfer_timeout_ms: 300_000,
          settling_seconds: 60,
          give_up_seconds: 600,
          max_response_bytes: 10_485_760,
          allow_private_addresses: false,
          allow_plain_text: false,
        },
        policies,
        care_units: [
          {
            id: 'oslo',
            name: 'Oslo',
            time_zone: 'Europe/Oslo',
            language: 'nb',
            policies,
            patient_page: { accent_color: '#0b5c8a', dark_accent_color: '#7cc4f0', link_in_messages: false },
            settings: {},
          },
        ],
      },
    ],
    clients: [
      {
        id: 'acme',
        name: 'acme',
        secrets: [{ sha256: hashSecret(clientSecret) }],
        scopes: ['appointments:read'],
        grants: [{ emr: 'north', care_units: ['oslo'] }],
      },
    ],
    messages: {},
    services: [],
    identifier_types: [],
    identifier_headers: [],
    limits: {
      requests_per_minute: 6000,
      page_requests_per_minute: 120,
      failed_credentials: 20,
      held_times: 2_000,
      sms_per_day: 20_000,
      emails_per_day: 20_000,
    },
    documents: { max_bytes: 10 * 1024 * 1024 },
    http: {
      trusted_proxies: [],
      discovery_origins: [],
      request_timeout_seconds: 60,
      max_connections: 5000,
      max_connections_per_address: 500,
      drain_seconds: 5,
      ready_waits_for_emrs: false,
    },
    retention: { confirmation_days: 90, event_days: 30, audit_days: 1830 },
    audit: { reads: 'relaxed' },
    webhooks: {
      allow_private_addresses: false,
      allow_http: false,
      timeout_ms: 10_000,
      retry_seconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 36_000],
      max_endpoints: 20,
    },
  });
});

test('applies defaults to a connection', async () => {
  const connection = '{ timeout_ms: 500, breaker: { failures: 2 }, ca_file: ca.pem }';
  const { emrs } = await load(rightFile.replace('    care_units:', `    connection: ${connection}\n    care_units:`));
  expect(emrs[0]?.connection).toMatchObject({
    timeout_ms: 500,
    request_timeout_ms: 10_000,
    breaker: { failures: 2, reset_seconds: 10 },
    ca_file: 'ca.pem',
  });
});

test("the gateway's certificate for an EHR is in files, or in environment variables", async () => {
  const loadWith = async (tls: string) => {
    const text = rightFile.replace('    care_units:', `    connection: { tls: ${tls} }\n    care_units:`);
    return (await load(text)).emrs[0]?.connection.tls;
  };
  const files = { client_certificate: 'client.pem', client_key: 'client-key.pem' };
  expect(await loadWith(JSON.stringify(files))).toEqual(files);
  const mixed = await loadWith('{ client_certificate: client.pem, client_key: { env: ACME_CLIENT_SECRET } }');
  expect(mixed?.client_key).toBeInstanceOf(Secret);
  expect(String(mixed?.client_key)).toBe('[secret]');
});

test('each policy of a care unit overrides that of the EHR', async () => {
  const { emrs } = await load(
    rightFile
      .replace('    care_units:', '    policies: { booking_confirmation: code, code: { length: 8 } }\n    care_units:')
      .replace('language: nb', 'language: nb\n        policies: { booking_confirmation: none, code: { attempts: 3 } }'),
  );
  expect(emrs[0]?.policies).toMatchObject({ booking_confirmation: 'code', code: { length: 8, attempts: 5 } });
  expect(emrs[0]?.care_units[0]?.policies).toMatchObject({
    booking_confirmation: 'none',
    code: { length: 8, lifetime_seconds: 600, attempts: 3 },
  });
});

test('hides secrets in messages and connector settings', async () => {
  const configuration = await load(
    `${rightFile
      .replace('connector: sandbox', 'connector: remote')
      .replace('{ country: "NO" }', '{ token: { env: TOKEN }, pages: 2 }')}messages:
  sms: { provider: 46elks, username: u, password: { env: PASSWORD }, from: Clinic }
`,
    { ACME_CLIENT_SECRET: clientSecret, TOKEN: 'token-hunter2', PASSWORD: 'password-hunter2' },
  );
  const { sms } = configuration.messages;
  expect(sms?.provider === '46elks' && sms.password.reveal()).toBe('password-hunter2');
  const token = configuration.emrs[0]?.settings.token;
  expect(token instanceof Secret && token.reveal()).toBe('token-hunter2');
  const seen = `${inspect(configuration, { depth: null, showHidden: true })}${JSON.stringify(configuration)}${sms}`;
  expect(seen).not.toContain('hunter2');
  expect(seen).not.toContain(clientSecret);
});

test('is deeply frozen', async () => {
  const configuration = await load(rightFile);
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
  expect(frozen(configuration)).toBe(true);
});

test('resolves aliases', async () => {
  const { emrs } = await load(
    rightFile.replace(
      '    care_units:',
      '    policies: &p { code: { length: 7 } }\n    care_units:\n      - { id: bergen, name: B, time_zone: Europe/Oslo, language: nb, policies: *p }',
    ),
  );
  expect(emrs[0]?.care_units[0]?.policies.code.length).toBe(7);
});

test('reports all mistakes at once, in the order of the file', async () => {
  const file = rightFile
    .replace('name: North', 'nmae: North')
    .replace('"NO"', '"DK"')
    .replace('Europe/Oslo', 'Europe/Olso')
    .replace('language: nb', 'language: "no"')
    .replace('emr: north', 'emr: nort');
  expect(await mistakesIn(file, {})).toEqual([
    'crossward.yaml:2:5: emrs[0]: the key "name" is missing: Display name.',
    'crossward.yaml:3:5: emrs[0].nmae: unknown key; did you mean "name"?',
    'crossward.yaml:5:26: emrs[0].settings.country: "DK" is unknown; must be one of NO, SE, GB',
    'crossward.yaml:9:20: emrs[0].care_units[0].time_zone: "Europe/Olso" is not an IANA time zone; did you mean "Europe/Oslo"?',
    'crossward.yaml:10:19: emrs[0].care_units[0].language: "no" is unknown; must be one of nb, sv, en; did you mean "nb"?',
    'crossward.yaml:13:22: clients[0].secrets[0].env: the environment variable ACME_CLIENT_SECRET is not set',
    'crossward.yaml:16:14: clients[0].grants[0].emr: "nort" is not an EHR in this file; did you mean "north"?',
  ]);
});

test('reports why a file cannot be read', async () => {
  const folder = await temporaryFolder();
  const attempt = async (path: string) =>
    (await errorFrom(loadConfiguration({ path, connectors: fakeConnectors, environment: {} }))).message;
  expect(await attempt(join(folder, 'none.yaml'))).toBe(`${join(folder, 'none.yaml')}: no such file (ENOENT)`);
  expect(await attempt(folder)).toBe(`${folder}: is a folder, not a file (EISDIR)`);
  expect(await mistakesIn('')).toEqual(['crossward.yaml: is empty; it must define the EHRs and the clients']);
  expect(await mistakesIn('# nothing\n')).toEqual(['crossward.yaml:1:1: is empty; must be a mapping']);
  expect(await mistakesIn(new Uint8Array([0x61, 0x3a, 0x20, 0xe6]))).toEqual(['crossward.yaml: is not UTF-8 text']);
});

test('reads a file with a byte order mark and CRLF', async () => {
  const configuration = await load(`\uFEFF${rightFile.replaceAll('\n', '\r\n')}`);
  expect(configuration.emrs[0]?.name).toBe('North');
});

test('.env.example lists every variable', async () => {
  const example = await readFile(new URL('../../../../.env.example', import.meta.url), 'utf8');
  const source = await readFile(new URL('../environment/environment.ts', import.meta.url), 'utf8');
  const named = new Set(example.match(/^[A-Z_]+(?==)/gm));
  const read = new Set(Array.from(source.matchAll(/(?:text|read)\(\s*'([A-Z_]+)'/g), ([, name]) => name));
  // One of many, which docs/operating.md lists.
  read.add('OTEL_EXPORTER_OTLP_ENDPOINT');
  expect(named).toEqual(read);
});
