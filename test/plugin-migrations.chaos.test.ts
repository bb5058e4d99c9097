import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { hashSecret } from '../server/src/config/configuration.ts';
import { createTestDatabase } from './database/database.ts';
import { startChild } from './processes/child-gateway.ts';

const run = promisify(execFile);

/** A connector that keeps its services in the gateway's database. */
const main = `export const connector = {
  name: 'ward',
  kitVersion: 1,
  settingsSchema: { type: 'object', additionalProperties: false },
  migrations: new URL('migrations/', import.meta.url),
  open: async ({ database }) => ({
    capabilities: {
      patientIdentifierTypes: ['emr_id'], resourceIdentifierTypes: ['emr_id'],
      changes: [], transactions: false,
    },
    async listHealthcareServices() {
      const client = await database.connect();
      try {
        return (await client.query('SELECT id, name, minutes AS "durationMinutes" FROM ward.services ORDER BY id', [])).rows;
      } finally {
        client.release();
      }
    },
  }),
};`;
const first = `CREATE SCHEMA ward;
  CREATE TABLE ward.services (id text, name text, minutes integer);
  INSERT INTO ward.services VALUES ('visit', 'Visit', 30);`;
const packageJson = { name: '@clinic/ward', version: '1.0.0', type: 'module', exports: './main.js' };

test('the migrations of a plug-in are applied once, and a mistake in them stops the start', async () => {
  const folder = await mkdtemp(join(inject('runFolder'), 'plugin-'));
  const { url: databaseUrl, dispose } = await createTestDatabase('postgresql');
  const configured = join(folder, 'configured');
  const dataDir = join(folder, 'data');
  onTestFinished(async () => {
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });

  /** Installs a package with these files, as from a registry. */
  async function install(files: Readonly<Record<string, string>>, more: object = {}): Promise<void> {
    const source = join(folder, 'ward');
    await rm(source, { recursive: true, force: true });
    await mkdir(join(source, 'migrations'), { recursive: true });
    const all = { 'main.js': main, 'package.json': JSON.stringify({ ...packageJson, ...more }), ...files };
    for (const [path, text] of Object.entries(all)) await writeFile(join(source, path), text);
    await rm(join(configured, 'node_modules'), { recursive: true, force: true });
    await mkdir(configured, { recursive: true });
    await writeFile(join(configured, 'package.json'), '{}');
    await run('npm', ['install', '--install-links', '--offline', '--no-audit', '--no-fund', source], {
      cwd: configured,
    });
  }

  const client = { id: 'app', secret: randomBytes(32).toString('base64url') };
  const configuration = {
    emrs: [
      {
        id: 'ward',
        name: 'Ward',
        connector: '@clinic/ward',
        settings: {},
        care_units: [{ id: 'one', name: 'One', time_zone: 'Europe/Oslo', language: 'nb' }],
      },
    ],
    clients: [
      {
        id: client.id,
        name: 'App',
        secrets: [{ sha256: hashSecret(client.secret) }],
        scopes: ['resources:read'],
        grants: [{ emr: 'ward' }],
      },
    ],
  };
  const path = join(configured, 'crossward.json');
  const variables = { CROSSWARD_CONFIG: path, CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64') };
  const start = () => startChild({ dataDir, databaseUrl, setup: { client, variables } });
  /** Starts the gateway, and returns the services of the EHR. */
  async function services(): Promise<readonly string[]> {
    const gateway = await start();
    try {
      const response = await gateway.send<{ healthcare_services: { name: string }[] }>({
        method: 'GET',
        path: '/api/emrs/ward/care-units/one/healthcare-services',
      });
      return response?.body.healthcare_services.map(({ name }) => name) ?? [];
    } finally {
      await gateway.kill();
    }
  }

  const one = { 'migrations/000001_services.sql': first };
  await install(one);
  await writeFile(path, JSON.stringify(configuration));
  expect(await services()).toEqual(['Visit']);
  expect(await services()).toEqual(['Visit']);

  const two = { ...one, 'migrations/000002_test.sql': `INSERT INTO ward.services VALUES ('test', 'Test', 10);` };
  await install(two);
  expect(await services()).toEqual(['Test', 'Visit']);

  const three = `INSERT INTO ward.services VALUES ('x-ray', 'X-ray', 20); SELECT nothing FROM ward.services;`;
  await install({ ...two, 'migrations/000003_faulty.sql': three });
  await expect(start()).rejects.toThrow('Migration ward/000003_faulty failed: column "nothing" does not exist');
  await install({ ...two, 'migrations/000001_services.sql': `${first} -- changed` });
  await expect(start()).rejects.toThrow('Migration ward/000001_services is applied, but its file has changed since.');
  await install(two, { files: ['main.js'] });
  await expect(start()).rejects.toThrow('The connector ward has no folder of migrations at ');
  await install(two);
  expect(await services()).toEqual(['Test', 'Visit']);
});
