import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readEnvironment } from '../config/environment/environment.ts';
import { loadConfiguration } from '../config/file/load.ts';
import { connectors } from '../ehr/connectors.ts';
import { run } from './run.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-init-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function init(): Promise<{ code: number; printed: string }> {
  let printed = '';
  const write = (text: string) => {
    printed += text;
  };
  const code = await run(['init', folder], { out: write, err: write, input: process.stdin });
  return { code, printed };
}

const read = (name: string) => readFile(join(folder, name), 'utf8');

test('writes a configuration and secrets with which a gateway can start', async () => {
  const { code, printed } = await init();
  expect([code, printed]).toEqual([0, expect.stringContaining('npx crossward start')]);
  expect(printed).toContain(`set -a; . ${join(folder, 'crossward.env')}; set +a`);
  const environment = parseEnv(await read('crossward.env'));
  const path = join(folder, 'crossward.yaml');
  expect(readEnvironment(environment)).toMatchObject({ configurationPath: path });
  const { emrs, clients } = await loadConfiguration({ path, connectors, environment });
  expect([emrs[0]?.id, clients[0]?.id]).toEqual(['training', 'booking-app']);
  const [first = ''] = (await read('crossward.yaml')).split('\n');
  const [, schema = ''] = /\$schema=(.*)/.exec(first) ?? [];
  expect(JSON.parse(await readFile(join(folder, schema), 'utf8'))).toHaveProperty('properties.emrs');
});

test('what is commented out is valid too', async () => {
  await init();
  const path = join(folder, 'all.yaml');
  const text = (await read('crossward.yaml')).replaceAll(/^( *)#(?! )/gm, '$1');
  await writeFile(path, text);
  expect(Object.keys(parse(text))).toEqual(['emrs', 'clients', 'messages', 'console', 'limits', 'http']);
  const secret = 'a secret of at least 32 characters';
  const environment = { BOOKING_APP_SECRET: secret, SMS_WEBHOOK_SECRET: secret, SMTP_PASSWORD: secret };
  const { emrs, http } = await loadConfiguration({ path, connectors, environment });
  expect([emrs.length, http.operations_port]).toEqual([2, 9090]);
});

test('only the owner can read the secrets, and each run makes others', async () => {
  await init();
  const first = await read('crossward.env');
  if (process.platform !== 'win32') expect((await stat(join(folder, 'crossward.env'))).mode & 0o777).toBe(0o600);
  await rm(join(folder, 'crossward.env'));
  await rm(join(folder, 'crossward.yaml'));
  await init();
  const key = (text: string) => /^CROSSWARD_SECRET_KEY=.{44}$/m.exec(text)?.[0];
  expect(key(first)).toBeDefined();
  expect(key(await read('crossward.env'))).not.toBe(key(first));
});

test.each(['crossward.yaml', 'crossward.env'])('overwrites nothing: %s', async (name) => {
  await writeFile(join(folder, name), 'mine');
  expect(await init()).toMatchObject({ code: 2, printed: expect.stringContaining(name) });
  expect(await read(name)).toBe('mine');
});
