import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { crossward } from '../server/src/cli/test-support.ts';
import type { ConfigurationFile } from '../server/src/config/schema/schema.ts';
import { createTestDatabase } from './database/database.ts';
import { type ChildGateway, startChild } from './processes/child-gateway.ts';
import { mountConfiguration } from './processes/mounted-configuration.ts';
import { type Appointment, creationBody, oslo, type Slot, sodermalm } from './requests/bookings.ts';
import { eventually } from './requests/codes.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-reload-'));
const { url, dispose } = await createTestDatabase('postgresql');
const { setup, first, publish } = await mountConfiguration(folder);
const gateway = await startChild({ dataDir: join(folder, 'data'), databaseUrl: url, setup });
afterAll(async () => {
  await gateway.kill();
  await dispose();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => useEnvironment(gateway));

/** Runs commands as beside this gateway. */
function useEnvironment({ address }: ChildGateway, variables = setup.variables): void {
  vi.stubEnv('HOST', '127.0.0.1');
  vi.stubEnv('PORT', new URL(address).port);
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** Waits for a line of the log, which is written some time after what it tells. */
const logged = (line: RegExp) =>
  eventually(() =>
    expect(
      gateway.logLines.some((it) => line.test(it)),
      String(line),
    ).toBe(true),
  );
const refusals = async () => Number(/outcome="refused"\} (\d+)/.exec(await metrics())?.[1] ?? 0);
const metrics = async () => (await fetch(`${gateway.address}/metrics`)).text();
const statusOf = async (path: string) => (await gateway.send({ method: 'GET', path }))?.status;
const [norway, sweden] = first.emrs;
if (!norway || !sweden) throw new Error('The demo has EHRs');
const more = { ...norway, id: 'more', name: 'More' };
const moreResources = '/api/emrs/more/care-units/oslo-sentrum/resources';

function withGrantFor(file: ConfigurationFile, emr: string): ConfigurationFile {
  return { ...file, clients: file.clients.map((client) => ({ ...client, grants: [...client.grants, { emr }] })) };
}

async function bookIn(careUnit: string): Promise<Appointment> {
  const from = new Date(Date.now() + 7 * 86_400_000);
  const query = new URLSearchParams({
    start: from.toISOString(),
    end: new Date(from.getTime() + 14 * 86_400_000).toISOString(),
    healthcare_service_id: 'consultation',
    limit: '1',
  });
  const found = await gateway.send<{ timeslots: Slot[] }>({ method: 'GET', path: `${careUnit}/timeslots?${query}` });
  const [slot] = found?.body.timeslots ?? [];
  if (!slot) throw new Error(`No slot: ${found?.text}`);
  const path = `${careUnit}/appointments`;
  const booked = await gateway.send<Appointment>({ method: 'POST', path, body: creationBody(slot) });
  if (booked?.status !== 201) throw new Error(`Not booked: ${booked?.text}`);
  return booked.body;
}

test('`crossward reload` adds an EHR, and says what waits for a restart', async () => {
  expect(await statusOf(moreResources)).toBe(404);
  const next = withGrantFor({ ...first, emrs: [...first.emrs, more] }, 'more');
  await publish({ ...next, http: { ...next.http, public_url: 'https://other.example.org' } });
  expect(await crossward('reload')).toEqual({
    code: 0,
    stdout:
      'The gateway uses the file as it is now.\nEHRs added: more\nNot changed before a restart: http.public_url\n',
    stderr: '',
  });
  expect(await statusOf(moreResources)).toBe(200);
  expect(await crossward('reload')).toMatchObject({
    code: 0,
    stdout: 'The gateway uses this file already.\nNot changed before a restart: http.public_url\n',
  });
  await logged(/"settings":\["http\.public_url"\].*take effect at a restart/);

  await publish(first);
  expect(await crossward('reload')).toMatchObject({ code: 0, stdout: expect.stringContaining('EHRs removed: more\n') });
  expect(await statusOf(moreResources)).toBe(404);
});

test('a file with a mistake changes nothing, and its place is told, without a secret', async () => {
  const secret = 'pasted-secret-that-is-in-the-wrong-place-0815';
  const text = JSON.stringify(withGrantFor({ ...first, emrs: [...first.emrs, more] }, 'more'));
  await publish(text.replace(/\{"sha256":"[0-9a-f]+"\}/, JSON.stringify(secret)));
  const { code, stdout, stderr } = await crossward('reload');
  expect([code, stdout]).toEqual([1, '']);
  const place = new RegExp(`${setup.variables.CROSSWARD_CONFIG}:1:\\d+`);
  expect(stderr).toMatch(/^The gateway goes on with the former configuration:\n/);
  expect(stderr).toMatch(place);
  expect(await statusOf(moreResources)).toBe(404);
  expect(await statusOf(`${oslo}/resources`)).toBe(200);
  expect(await metrics()).toMatch(new RegExp(`crossward_configuration_refused\\{place="${place.source}"\\} 1`));
  await logged(new RegExp(`${place.source}.*configuration file not used`));
  for (const output of [stderr, await metrics(), gateway.logLines.join('\n')]) expect(output).not.toContain(secret);

  await publish(first);
  expect(await crossward('reload')).toMatchObject({ code: 0 });
  expect(await metrics()).toContain('crossward_configuration_refused{place=""} 0');
});

test('a file that changes is read without a command, and SIGHUP reads it at once', async () => {
  const namesOf = async () =>
    (await gateway.send<{ emrs: { name: string }[] }>({ method: 'GET', path: '/api/emrs' }))?.body.emrs.map(
      ({ name }) => name,
    );
  const named = (name: string) => ({ ...first, emrs: [{ ...norway, name }, ...first.emrs.slice(1)] });
  await publish(named('Changed file'));
  await eventually(async () => expect(await namesOf()).toContain('Changed file'));
  await publish(named('After a signal'));
  process.kill(gateway.pid, 'SIGHUP');
  await eventually(async () => expect(await namesOf()).toContain('After a signal'));
  await logged(/"signal":"SIGHUP".*reading the configuration file again/);
});

test('an EHR with a hold is removed when the hold is gone, and at once with --force', async () => {
  await publish(first);
  await crossward('reload');
  const hold = async () => {
    const held = await bookIn(sodermalm);
    expect(held.status).toBe('awaiting_confirmation');
    return `${sodermalm}/appointments/${held.id}`;
  };
  const clients = first.clients.map((client) => ({
    ...client,
    grants: client.grants.filter(({ emr }) => emr !== sweden.id),
  }));
  const without = { ...first, emrs: first.emrs.filter(({ id }) => id !== sweden.id), clients };
  const gone = await hold();
  const before = await refusals();
  await publish(without);
  expect(await crossward('reload')).toMatchObject({ code: 1, stderr: expect.stringContaining('(1 code, 1 hold)') });
  expect(await statusOf(`${sodermalm}/resources`)).toBe(200);
  // By the command, and because the file has changed. It is tried again without either.
  await eventually(async () => expect(await refusals()).toBeGreaterThan(before + 1));
  expect((await gateway.send({ method: 'PATCH', path: gone, body: { status: 'cancelled' } }))?.status).toBe(200);
  await eventually(async () => expect(await statusOf(`${sodermalm}/resources`)).toBe(404));

  await publish(first);
  await crossward('reload');
  const kept = await hold();
  await publish(without);
  expect(await crossward('reload --force')).toMatchObject({
    code: 0,
    stdout: 'The gateway uses the file as it is now.\nEHRs removed: sandbox-se\n',
  });
  expect(await statusOf(`${sodermalm}/resources`)).toBe(404);
  await publish(first);
  await crossward('reload');
  expect((await gateway.send<Appointment>({ method: 'GET', path: kept }))?.body.status).toBe('awaiting_confirmation');
});

test('only the secret key of the gateway lets it read its file again', async () => {
  vi.stubEnv('CROSSWARD_SECRET_KEY', randomBytes(32).toString('base64'));
  expect(await crossward('reload')).toMatchObject({ code: 2, stderr: expect.stringContaining('CROSSWARD_SECRET_KEY') });
  for (const headers of [{}, { 'x-crossward-reload': 'guess' }]) {
    const response = await fetch(`${gateway.address}/reload`, { method: 'POST', headers });
    const { reason } = (await response.json()) as { readonly reason: string };
    expect([response.status, reason]).toEqual([404, 'route_not_found']);
  }
  vi.stubEnv('CROSSWARD_CONFIG', '');
  expect(await crossward('reload')).toMatchObject({ code: 2, stderr: expect.stringContaining('the demo has no file') });
});

test('a command that finds no gateway says where it looked', async () => {
  vi.stubEnv('PORT', '9');
  expect(await crossward('reload')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No gateway answers at http://127.0.0.1:9.'),
  });
});

test('all workers of a gateway follow, whichever of them is asked', async () => {
  const workers = await startChild({
    dataDir: join(folder, 'data'),
    databaseUrl: url,
    setup,
    variables: { CROSSWARD_WORKERS: '2' },
  });
  onTestFinished(() => workers.kill());
  useEnvironment(workers);
  const used = () => workers.logLines.filter((line) => line.includes('configuration file in use')).length;
  const named = { ...first, emrs: [{ ...norway, name: 'In all workers' }, ...first.emrs.slice(1)] };
  await publish(named);
  expect(await crossward('reload')).toMatchObject({ code: 0 });
  await eventually(() => expect(used()).toBe(2));
  await publish(first);
  process.kill(workers.pid, 'SIGHUP');
  await eventually(() => expect(used()).toBe(4));
});
