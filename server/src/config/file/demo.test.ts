import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashSecret } from '../configuration.ts';
import { scopes } from '../schema/schema.ts';
import { errorFrom, fakeConnectors, temporaryFolder } from '../test-support.ts';
import { prepareDemo } from './demo.ts';

async function options(host = '127.0.0.1', port = 8080) {
  return { dataDir: join(await temporaryFolder(), 'data', 'demo'), connectors: fakeConnectors, host, port };
}
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test('configures three sandboxes and a client with all grants', async () => {
  const { configuration, client, secretKey } = await prepareDemo(await options());
  const shown = configuration.emrs.map(({ id, synthetic_identifiers, policies, care_units }) => [
    id,
    synthetic_identifiers,
    policies.booking_confirmation,
    policies.cancellation_confirmation,
    ...care_units.map((careUnit) => [careUnit.id, careUnit.time_zone, careUnit.language].join(' ')),
  ]);
  expect(shown).toEqual([
    ['sandbox-no', true, 'none', 'none', 'oslo-sentrum Europe/Oslo nb', 'bergen-nord Europe/Oslo nb'],
    ['sandbox-se', true, 'code', 'none', 'sodermalm Europe/Stockholm sv', 'lund Europe/Stockholm sv'],
    ['sandbox-uk', true, 'none', 'code', 'riverside Europe/London en', 'hillview Europe/London en'],
  ]);
  expect(configuration.clients).toEqual([
    {
      id: client.client_id,
      name: 'Demo',
      secrets: [{ sha256: hashSecret(client.client_secret) }],
      scopes: [...scopes],
      grants: [
        { emr: 'sandbox-no', care_units: ['oslo-sentrum', 'bergen-nord'] },
        { emr: 'sandbox-se', care_units: ['sodermalm', 'lund'] },
        { emr: 'sandbox-uk', care_units: ['riverside', 'hillview'] },
      ],
      return_urls: ['http://localhost', 'http://127.0.0.1'],
    },
  ]);
  expect(secretKey).toHaveLength(32);
  expect(configuration.webhooks).toMatchObject({ allow_private_addresses: true, allow_http: true });
});

test('stores client and key with access for their owner only', async () => {
  const demo = await options();
  const first = await prepareDemo(demo);
  const files = ['demo-client.json', 'demo-operator.json', 'secret-key'];
  expect((await readdir(demo.dataDir)).sort()).toEqual(files);
  expect(await modeOf(demo.dataDir)).toBe('700');
  for (const file of files) expect(await modeOf(join(demo.dataDir, file))).toBe('600');
  expect(JSON.parse(await readFile(join(demo.dataDir, 'demo-client.json'), 'utf8'))).toEqual(first.client);
  expect(JSON.parse(await readFile(join(demo.dataDir, 'demo-operator.json'), 'utf8'))).toEqual(first.operator);

  await chmod(join(demo.dataDir, 'secret-key'), 0o644);
  const second = await prepareDemo(demo);
  expect(second.client).toEqual(first.client);
  expect(second.operator).toEqual(first.operator);
  expect(second.secretKey).toEqual(first.secretKey);
  expect(await modeOf(join(demo.dataDir, 'secret-key'))).toBe('600');
});

test('reports a damaged file without quoting it', async () => {
  const demo = await options();
  await prepareDemo(demo);
  const path = (name: string) => join(demo.dataDir, name);
  const clientText = await readFile(path('demo-client.json'), 'utf8');
  await writeFile(path('demo-client.json'), '{ "client_id": "demo", "client_secret": "hunter2"');
  const client = await errorFrom(prepareDemo(demo));
  expect(client.message).toBe(
    `${path('demo-client.json')}: is damaged: it must contain client_id and client_secret; delete the file to create a new client at the next start`,
  );
  expect(client.cause).toBeUndefined();
  await writeFile(path('demo-client.json'), clientText);
  await writeFile(path('demo-operator.json'), '{ "name": "demo", "password": "hunter2" }');
  expect((await errorFrom(prepareDemo(demo))).message).toBe(
    `${path('demo-operator.json')}: is damaged: it must contain name and password; delete the file to create a new password at the next start`,
  );
  await writeFile(path('secret-key'), 'hunter2');
  expect((await errorFrom(prepareDemo(demo))).message).toContain(
    `${path('secret-key')}: is damaged: it must contain 32 bytes`,
  );
});

test('reports why a data directory cannot be used', async () => {
  const demo = await options();
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, '');
  expect((await errorFrom(prepareDemo({ ...demo, dataDir: file }))).message).toBe(
    `${file}: exists and is not a folder (EEXIST)`,
  );
});

test.each([
  ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
  ['::1', 3000, 'http://[::1]:3000'],
  ['localhost', 0, undefined],
])('on %s, port %i, links to the pages for patients with %s', async (host, port, url) => {
  const { configuration } = await prepareDemo(await options(host, port));
  expect(configuration.http.public_url).toBe(url);
});

test.each(['0.0.0.0', '::', '192.168.1.1', '128.0.0.1', '::ffff:10.0.0.1', 'example.org', 'localhost.example.org', ''])(
  'rejects host %j and creates nothing',
  async (host) => {
    const demo = await options(host);
    expect((await errorFrom(prepareDemo(demo))).message).toBe(
      `HOST: the demo requires a loopback address (127.0.0.1, ::1 or localhost), not ${JSON.stringify(host)}`,
    );
    await expect(stat(demo.dataDir)).rejects.toThrow('ENOENT');
  },
);

test.each(['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1', 'localhost', 'LOCALHOST'])(
  'accepts host %s',
  async (host) => {
    await expect(prepareDemo(await options(host))).resolves.toBeDefined();
  },
);
