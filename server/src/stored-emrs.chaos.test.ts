/** @module-tag any-database */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { healthcareServices } from '../../connectors/fhir-r4/fake/data-set.ts';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { type Credentials, startGateway } from '../../test/gateway/gateway.ts';
import { creationBody, type Slot } from '../../test/requests/bookings.ts';
import { eventually } from '../../test/requests/codes.ts';
import { crossward } from './cli/test-support.ts';
import type { Configuration } from './config/configuration.ts';
import { parseYaml } from './config/file/yaml-file.ts';
import { listActivity } from './console/audit/activity.ts';
import { resealEmrs } from './ehr/stored/stored-emrs.ts';
import { createKeyRing } from './secrets/key-ring.ts';

const token = 'kanari-token-of-the-clinic-4711';
let accepted = token;
const fake = await startFake({ authorization: () => `Bearer ${accepted}` });
const folder = await mkdtemp(join(tmpdir(), 'crossward-emrs-'));
const first = await startGateway({ logLevel: 'debug' });
const second = await startGateway({ logLevel: 'debug', beside: first });
const gateways = [first, second];
afterAll(async () => {
  await second.close();
  await first.close();
  await fake.close();
  await rm(folder, { recursive: true, force: true });
});
const { db } = first.deps.services;
const careUnit = '/api/emrs/clinic/care-units/north';

beforeEach(() => {
  vi.stubEnv('DATABASE_URL', first.ground.testDatabase.url ?? '');
  vi.stubEnv('CROSSWARD_CONFIG', '');
  vi.stubEnv('CROSSWARD_SECRET_KEY', first.ground.secretKeys[0].toString('base64'));
  vi.stubEnv('CLINIC_TOKEN', token);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  accepted = token;
  await sql`DELETE FROM stored_emrs`.execute(db);
  await revise();
  await eventually(() =>
    expect(gateways.flatMap(({ deps }) => deps.services.ehrs.has('clinic'))).toEqual([false, false]),
  );
});

/** What somebody with write access to the database alone does. */
const revise = () =>
  sql`INSERT INTO stored_emrs_revision (revision) VALUES (gen_random_uuid())
    ON CONFLICT (is_only) DO UPDATE SET revision = excluded.revision`.execute(db);

const clinic = {
  id: 'clinic',
  name: 'The clinic',
  connector: 'fhir-r4',
  synthetic_identifiers: true,
  connection: { allow_private_addresses: true, settling_seconds: 1 },
  settings: {
    base_url: fake.url,
    auth: { type: 'bearer', token: { env: 'CLINIC_TOKEN' } },
    patient_identifier_types: ['se_personal_number'],
    resource_identifier_types: ['hsa_id'],
    healthcare_services: healthcareServices,
  },
  care_units: [
    {
      id: 'north',
      name: 'North',
      time_zone: 'Europe/Stockholm',
      language: 'sv',
      settings: { location: 'Location/north' },
    },
  ],
};

const add = (emr: unknown, options = '') => crossward(`emr add --from -${options}`, JSON.stringify(emr));
const change = (emr: unknown, options = '') => crossward(`emr change --from -${options}`, JSON.stringify(emr));

/** A client that operators manage, with a grant for the clinic. */
async function clientOfClinic(): Promise<Credentials> {
  const id = `site-${randomBytes(4).toString('hex')}`;
  const created = await crossward(
    `clients create ${id} --scope resources:read --scope appointments:write --scope appointments:read --scope patients:read --grant clinic`,
  );
  expect(created).toMatchObject({ code: 0 });
  return { id, secret: created.stdout.trim() };
}

const statuses = (client: Credentials) =>
  Promise.all(
    gateways.map(async (gateway) => (await gateway.request('GET', `${careUnit}/resources`, { client })).status),
  );

/** Begins a pause of the clinic as if that many seconds ago. */
async function pause(secondsAgo: number): Promise<void> {
  await sql`
    INSERT INTO ehr_pauses (emr, paused_at) VALUES ('clinic', now() - make_interval(secs => ${secondsAgo}))
    ON CONFLICT (emr) DO UPDATE SET paused_at = excluded.paused_at`.execute(db);
  onTestFinished(async () => void (await sql`DELETE FROM ehr_pauses`.execute(db)));
}

test('an EHR is checked, stored, used by all gateways, and removed, and its secret is nowhere', async () => {
  const added = await add(clinic);
  expect(added).toMatchObject({
    code: 0,
    stdout: 'The EHR clinic is stored. Running gateways use the change within 5 seconds.\n',
  });
  expect(added.stderr).toContain('EHR clinic (fhir-r4)');
  const client = await clientOfClinic();
  await eventually(async () => expect(await statuses(client)).toEqual([200, 200]));
  const query = new URLSearchParams({
    start: new Date(Date.now() + 86_400_000).toISOString(),
    end: new Date(Date.now() + 14 * 86_400_000).toISOString(),
    healthcare_service_id: 'consultation',
    limit: '1',
  });
  const found = await second.request<{ timeslots: Slot[] }>('GET', `${careUnit}/timeslots?${query}`, { client });
  const [slot] = found.body.timeslots;
  if (!slot) throw new Error(`No slot: ${found.text}`);
  const body = { ...creationBody(slot), patient_id: 'p-1' };
  const booked = await second.request<{ status: string }>('POST', `${careUnit}/appointments`, { client, body });
  expect([booked.status, booked.body.status]).toEqual([201, 'booked']);

  const listed = await crossward('emr list');
  expect(listed.stdout).toContain('clinic  operators  open  fhir-r4  care units 1  secrets CLINIC_TOKEN\n');
  const exported = await crossward('emr export');
  const yaml = parseYaml(exported.stdout);
  expect('value' in yaml && yaml.value).toEqual({ emrs: [clinic] });
  expect(exported.stderr).toContain('Set the variables CLINIC_TOKEN.');
  expect(await crossward('emr check --emr clinic')).toMatchObject({ code: 0 });

  expect(await crossward('emr remove clinic')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Pause EHR clinic first, and wait for 40 seconds'),
  });
  await pause(40);
  expect(await crossward('emr remove clinic')).toMatchObject({ code: 0 });
  await eventually(async () => expect(await statuses(client)).toEqual([404, 404]));
  expect(await crossward('emr remove clinic')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The database has no EHR with this id.'),
  });
  expect(
    (await listActivity(db, 4)).map(({ operator, action, target, outcome }) => [operator, action, target, outcome]),
  ).toEqual([
    ['command line', 'emr_remove', null, 'not_possible'],
    ['command line', 'emr_remove', 'clinic', 'done'],
    ['command line', 'emr_remove', 'clinic', 'not_possible'],
    ['command line', 'client_create', client.id, 'done'],
  ]);
  const seen = [added, listed, exported].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  expect([...seen, ...gateways.flatMap(({ logLines }) => logLines)].join('\n')).not.toContain(token);
});

test('a template is listed, printed and stored', async () => {
  expect((await crossward('emr templates')).stdout).toMatch(/^gnuhealth {2}GNU Health 5\n {2}GNU Health 5\.0\.6/m);
  const printed = await crossward('emr add --template gnuhealth');
  expect(printed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('# name of its database\n') });
  vi.stubEnv('GNUHEALTH_PASSWORD', 'password');
  const stored = await crossward('emr add --from - --no-check --draft', printed.stdout);
  expect(stored).toMatchObject({ code: 0, stdout: expect.stringContaining('The EHR hospital is stored as a draft.') });
  expect(await crossward('emr remove hospital')).toMatchObject({ code: 0 });
});

test('no column has the secret as it is', async () => {
  await add(clinic);
  const { rows } = await sql<{ row: string }>`SELECT stored_emrs::text AS row FROM stored_emrs`.execute(db);
  const [{ row } = { row: '' }] = rows;
  expect(row).toContain('CLINIC_TOKEN');
  for (const form of [token, Buffer.from(token).toString('hex'), Buffer.from(token).toString('base64')])
    expect(row).not.toContain(form);
});

test('what is wrong with an EHR is told with its place, and nothing is stored', async () => {
  const path = join(folder, 'wrong.yaml');
  await writeFile(path, 'emrs:\n  - id: clinic\n    name: Clinic\n    connector: fhir-r5\n    care_units: []\n');
  const wrong = await crossward(`emr add --from ${path}`);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(new RegExp(`^${path}:4:16: emrs\\[0\\]\\.connector: `, 'm'));
  expect(wrong.stderr).toMatch(new RegExp(`^${path}:5:17: emrs\\[0\\]\\.care_units: `, 'm'));
  const pasted = { ...clinic, settings: { ...clinic.settings, auth: { type: 'bearer', token } } };
  const { code, stderr } = await add(pasted);
  expect([code, stderr]).toEqual([2, expect.stringContaining('settings.auth.token: must be { env: NAME }')]);
  expect(stderr).not.toContain(token);
  expect(await add({ ...clinic, id: 'sandbox-no' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('an id is in one place only'),
  });
  vi.stubEnv('CLINIC_TOKEN', '');
  expect(await add(clinic)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Give the values of CLINIC_TOKEN'),
  });
  vi.stubEnv('CLINIC_TOKEN', 'another');
  const refused = await add(clinic);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('--no-check');
  expect((await crossward('emr list')).stdout).not.toContain('clinic');
});

test('a draft is called by no gateway, and opened later', async () => {
  fake.seen.length = 0;
  expect(await add(clinic, ' --draft --no-check')).toMatchObject({ code: 0 });
  expect((await crossward('emr list')).stdout).toContain('clinic  operators  draft');
  for (const { deps } of gateways) await eventually(() => expect(deps.storedIds().has('clinic')).toBe(true));
  expect(gateways.map(({ deps }) => deps.services.ehrs.has('clinic'))).toEqual([false, false]);
  expect(fake.seen).toEqual([]);
  expect(await crossward('emr open clinic')).toMatchObject({ code: 0 });
  const client = await clientOfClinic();
  await eventually(async () => expect(await statuses(client)).toEqual([200, 200]));
});

test('a change keeps the secret, unless it would be sent to another address', async () => {
  await add(clinic);
  // The shell's variable may be the secret of another EHR.
  vi.stubEnv('CLINIC_TOKEN', 'of-another-ehr');
  expect(await change({ ...clinic, name: 'Renamed' })).toMatchObject({ code: 0 });
  vi.stubEnv('CLINIC_TOKEN', '');
  await eventually(() =>
    expect(gateways.map(({ deps }) => deps.services.ehrs.get('clinic')?.name)).toEqual(['Renamed', 'Renamed']),
  );
  const elsewhere = { ...clinic, settings: { ...clinic.settings, base_url: 'https://ehr.example' } };
  expect(await change(elsewhere, ' --no-check')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('another connector or address'),
  });
  // A new secret takes the place of the former one.
  accepted = 'kanari-token-after-the-change';
  const file = join(folder, 'secrets.json');
  await writeFile(file, JSON.stringify({ CLINIC_TOKEN: accepted }));
  expect(await change(clinic, ` --secrets ${file}`)).toMatchObject({ code: 0 });
  const client = await clientOfClinic();
  await eventually(async () => expect(await statuses(client)).toEqual([200, 200]));
});

test('an EHR moves to another server only when no gateway can be writing to the former one', async () => {
  await add(clinic);
  const file = join(folder, 'moved.json');
  await writeFile(file, JSON.stringify({ CLINIC_TOKEN: token }));
  const move = () =>
    change(
      { ...clinic, settings: { ...clinic.settings, base_url: 'https://ehr.example' } },
      ` --no-check --secrets ${file}`,
    );
  const refused = { code: 1, stderr: expect.stringContaining('Pause EHR clinic first') };
  expect(await move()).toMatchObject(refused);
  await pause(25);
  expect(await move()).toMatchObject({ code: 1, stderr: expect.stringMatching(/1[45] of them are left/) });
  // A pause that has ended is none.
  await sql`UPDATE ehr_pauses SET paused_at = now() - interval '1 hour', paused_until = now()`.execute(db);
  expect(await move()).toMatchObject(refused);
  await sql`UPDATE ehr_pauses SET paused_until = NULL`.execute(db);
  expect(await move()).toMatchObject({ code: 0 });
});

test('an EHR with open work is not removed or moved, unless that is forced', async () => {
  await add(clinic);
  await sql`
    INSERT INTO operations (id, client_id, emr, care_unit_id, state, sealed_plan, request_hash)
    VALUES (gen_random_uuid(), 'c', 'clinic', 'north', 'pending', '\\x00', '\\x00')`.execute(db);
  onTestFinished(async () => void (await sql`DELETE FROM operations WHERE emr = 'clinic'`.execute(db)));
  const told = { code: 1, stderr: expect.stringContaining('something is open there (1 write)') };
  expect(await crossward('emr remove clinic')).toMatchObject(told);
  const renamed = { ...clinic, care_units: clinic.care_units.map((unit) => ({ ...unit, id: 'other' })) };
  expect(await change(renamed)).toMatchObject(told);
  expect(await change({ ...clinic, name: 'Renamed' })).toMatchObject({ code: 0 });
  expect(await crossward('emr remove clinic --force')).toMatchObject({ code: 0 });

  const asked = {
    code: 1,
    stderr: expect.stringMatching(/\(1 write\).*clients regain their grants; is it the same EHR/),
  };
  expect(await add(clinic)).toMatchObject(asked);
  expect(await add(clinic, ' --draft')).toMatchObject({ code: 0 });
  expect(await crossward('emr open clinic')).toMatchObject(asked);
  expect(await crossward('emr remove clinic --force')).toMatchObject(told);
  expect(await crossward('emr open clinic --force')).toMatchObject({ code: 0 });
  expect(await crossward('emr remove clinic --force')).toMatchObject({ code: 0 });
});

test('a row that cannot be used hides no other, and is told', async () => {
  await add({ ...clinic, id: 'away', name: 'Away' });
  await add(clinic);
  await eventually(() => expect(second.deps.services.ehrs.has('away')).toBe(true));
  await sql`UPDATE stored_emrs SET definition = jsonb_set(definition::jsonb, '{settings,base_url}', '"https://evil.example"')
    WHERE id = 'away'`.execute(db);
  await revise();
  for (const { deps } of gateways) {
    await eventually(() =>
      expect(deps.watch.state.unused).toEqual([
        { emr: 'away', since: expect.any(Date), text: expect.stringContaining('somebody else than a gateway') },
      ]),
    );
    expect([...deps.services.ehrs.keys()]).toEqual(expect.arrayContaining(['clinic', 'sandbox-no']));
    expect(deps.services.ehrs.has('away')).toBe(false);
  }
  expect(first.logLines.filter((line) => line.includes('stored EHR not used'))).toHaveLength(1);
  expect((await crossward('emr list')).stdout).toMatch(/^away {2}operators {2}unusable {2}.*cannot be decrypted/m);
});

test('an EHR in use whose row this gateway cannot read stays in use, unless the row means another server', async () => {
  await add(clinic);
  const client = await clientOfClinic();
  await eventually(async () => expect(await statuses(client)).toEqual([200, 200]));
  const store = async (path: string, value: string) => {
    await sql`UPDATE stored_emrs SET definition = jsonb_set(definition::jsonb, ${path}::text[], ${value}::jsonb)
      WHERE id = 'clinic'`.execute(db);
    await revise();
  };
  await store('{settings,of_a_newer_version}', 'true');
  for (const { deps } of gateways) {
    await eventually(() =>
      expect(deps.watch.state.unused).toMatchObject([
        { emr: 'clinic', text: expect.stringContaining('its former settings stay in use') },
      ]),
    );
  }
  expect(await statuses(client)).toEqual([200, 200]);
  // Nothing that a row says stops the others.
  for (const [path, value] of [
    ['{care_units,0,settings}', 'null'],
    ['{care_units,0}', 'null'],
    ['{settings}', 'null'],
    ['{}', 'null'],
  ] as const) {
    await sql`UPDATE stored_emrs SET definition = CASE WHEN ${path} = '{}' THEN 'null'::json
      ELSE jsonb_set(definition::jsonb, ${path}::text[], ${value}::jsonb)::json END WHERE id = 'clinic'`.execute(db);
    await revise();
    await add({ ...clinic, id: 'beside' });
    await eventually(() => expect(gateways.map(({ deps }) => deps.services.ehrs.has('beside'))).toEqual([true, true]));
    await sql`DELETE FROM stored_emrs WHERE id = 'beside'`.execute(db);
    await revise();
    await eventually(() =>
      expect(gateways.map(({ deps }) => deps.services.ehrs.has('beside'))).toEqual([false, false]),
    );
  }
  await eventually(async () => expect(await statuses(client)).toEqual([404, 404]));
});

test('doctor checks the EHRs of the database too', async () => {
  await add(clinic);
  const path = join(folder, 'without-emrs.yaml');
  await writeFile(path, 'emrs: []\nclients: []\n');
  vi.stubEnv('CROSSWARD_CONFIG', path);
  const said = async () => (await crossward('doctor')).stdout;
  expect(await said()).toMatch(/ok +clinic +fhir-r4 is open/);
  accepted = 'another';
  expect(await said()).toMatch(/problem +clinic +/);
  await sql`UPDATE stored_emrs SET definition = jsonb_set(definition::jsonb, '{name}', '"Other"') WHERE id = 'clinic'`.execute(
    db,
  );
  expect(await said()).toContain('is stored in the database, and cannot be used: its secret key is unknown');
});

test('the former connection goes on until the new one opens', async () => {
  await add(clinic);
  const client = await clientOfClinic();
  await eventually(async () => expect(await statuses(client)).toEqual([200, 200]));
  const silent = { ...clinic, name: 'Moved', settings: { ...clinic.settings, base_url: 'http://127.0.0.1:1' } };
  expect(await change(silent, ' --no-check --force')).toMatchObject({ code: 0 });
  await add({ ...clinic, id: 'beside' });
  for (const { deps } of gateways) {
    await eventually(() =>
      expect(deps.watch.state.unused).toMatchObject([
        { emr: 'clinic', text: expect.stringContaining('does not answer') },
      ]),
    );
    await eventually(() => expect(deps.services.ehrs.has('beside')).toBe(true));
    expect(deps.services.ehrs.get('clinic')?.name).toBe('The clinic');
  }
  expect(await statuses(client)).toEqual([200, 200]);
  expect(await crossward('emr pause clinic')).toMatchObject({ code: 0 });
  onTestFinished(async () => void (await crossward('emr resume clinic')));
  await change({ ...silent, name: 'Moved again' }, ' --no-check');
  await eventually(() =>
    expect(gateways.map(({ deps }) => deps.services.ehrs.get('clinic')?.name)).toEqual(['Moved again', 'Moved again']),
  );
});

test('a file that gains the id of a stored EHR is refused', async () => {
  await add(clinic);
  await eventually(() => expect(first.deps.storedIds().has('clinic')).toBe(true));
  let configuration: Configuration | undefined;
  const reading = startGateway({
    beside: first,
    configure(it) {
      const [sandbox] = it.emrs;
      configuration = sandbox ? { ...it, emrs: [...it.emrs, { ...sandbox, id: 'clinic' }] } : it;
      return configuration;
    },
  });
  await expect(reading).rejects.toThrow('EHR clinic: the database has an EHR with this id');
  if (!configuration) throw new Error('The gateway has a configuration');
  const { connectors } = await import('./ehr/connectors.ts');
  await expect(first.deps.reconfigure({ configuration, connectors }, true)).rejects.toThrow(
    'an id is in one place only',
  );
});

test('a new secret key takes over the secrets', async () => {
  await add(clinic);
  const [old] = first.ground.secretKeys;
  const next = randomBytes(32);
  const keyOf = async () =>
    (
      await sql<{
        id: string;
      }>`SELECT encode(substring(sealed_secrets FROM 1 FOR 4), 'hex') AS id FROM stored_emrs`.execute(db)
    ).rows;
  const before = await keyOf();
  expect(await resealEmrs(db, createKeyRing([next, old]))).toEqual([]);
  expect(await keyOf()).not.toEqual(before);
  expect(await resealEmrs(db, createKeyRing([next]))).toEqual([]);
  await resealEmrs(db, createKeyRing([old, next]));
  expect(await keyOf()).toEqual(before);
});
