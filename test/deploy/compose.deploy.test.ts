import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { drainSeconds, longestRequestSeconds } from './stop-times.ts';
import { require, whatIsMissing } from './tools.ts';
import { exampleSetup } from './visit.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string) => readFile(join(root, path), 'utf8');

interface Service {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly stop_grace_period: string;
  readonly ports?: readonly string[];
}

async function compose(): Promise<Readonly<Record<'gateway' | 'database' | 'proxy', Service>>> {
  return parse(await text('compose.yaml')).services;
}

describe('compose.yaml', () => {
  test('fits the Compose Specification', async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(JSON.parse(await text('test/deploy/schemas/compose.json')));
    validate(parse(await text('compose.yaml')));
    expect(validate.errors).toBeNull();
    expect(validate({ services: { gateway: { build: '.', readonly: true } } })).toBe(false);
  });

  test('gives the gateway its own rights, files that exist, and the health check its port', async () => {
    const { gateway, database, proxy } = await compose();
    expect(gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    const { http } = parse(await text('deploy/crossward.yaml'));
    expect(gateway.environment.HEALTH_URL).toBe(`http://127.0.0.1:${http.operations_port}/health/ready`);
    const files = [gateway, proxy].flatMap(({ volumes }) => volumes).filter((volume) => volume.startsWith('./'));
    expect(files.map((volume) => existsSync(join(root, volume.split(':')[0] ?? '')))).toEqual([true, true]);
    expect([gateway.ports, database.ports]).toEqual([undefined, undefined]);
    expect(database.networks).toEqual(['inside']);
    expect(Object.keys(proxy.networks)).toEqual(['outside']);
  });

  test('has one proxy that the gateway trusts, with an address that nobody else gets', async () => {
    const { networks } = (await compose()).proxy;
    const address = ('outside' in networks && networks.outside?.ipv4_address) || '';
    const { http } = parse(await text('deploy/crossward.yaml'));
    expect(http.trusted_proxies).toEqual(['127.0.0.1', '::1', address]);
    const [pool] = parse(await text('compose.yaml')).networks.outside.ipam.config;
    const contains = (range: string) => {
      const [base = '', bits] = range.split('/');
      const list = new BlockList();
      list.addSubnet(base, Number(bits));
      return list.check(address);
    };
    expect([contains(pool.subnet), contains(pool.ip_range)]).toEqual([true, false]);
  });

  test('names the version of the package, as the chart does', async () => {
    const { version } = JSON.parse(await text('package.json'));
    expect((await compose()).gateway.image).toContain(`crossward:${version}}`);
    expect(parse(await text('deploy/helm/crossward/Chart.yaml'))).toMatchObject({ version, appVersion: version });
    expect(await text('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`);
  });

  test('gives the gateway time for its drain and its longest request, and Caddy for its checks', async () => {
    const seconds = Number.parseInt((await compose()).gateway.stop_grace_period, 10);
    expect(seconds).toBeGreaterThan(drainSeconds + longestRequestSeconds);
    const caddyfile = await text('deploy/Caddyfile');
    const setting = (name: string) => Number(new RegExp(`^\\s*${name} (\\d+)s$`, 'm').exec(caddyfile)?.[1]);
    // A check begins at most an interval after the gateway has become not ready.
    expect(setting('health_interval') + setting('health_timeout')).toBeLessThan(drainSeconds);
    // The gateway is not ready while it drains and starts again.
    expect(setting('lb_try_duration')).toBeGreaterThan(2 * drainSeconds);
    const { http } = parse(await text('deploy/crossward.yaml'));
    expect(caddyfile).toContain(`{$HEALTH_PORT:${http.operations_port}}`);
  });

  test('requires each secret that the configuration names', async () => {
    const { gateway } = await compose();
    for (const name of Object.keys(exampleSetup().variables)) {
      expect(gateway.environment[name]).toMatch(`\${${name}:?`);
    }
  });
});

test('the example of the chart has the same EHR and client as that of the others', async () => {
  const { config } = parse(await text('deploy/helm/example-values.yaml'));
  const { emrs, clients } = parse(await text('deploy/crossward.yaml'));
  expect(config).toMatchObject({ emrs, clients });
});

test('Caddy accepts its file', async (context) => {
  require(whatIsMissing('caddy'), context);
  const words = ['validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy', 'Caddyfile')];
  await expect(run('caddy', words)).resolves.toBeDefined();
});
