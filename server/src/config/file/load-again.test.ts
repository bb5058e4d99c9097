import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identifierType, identifierTypeSchema } from '@crossward/connector-kit';
import { afterEach, expect, test } from 'vitest';
import { declareTypesOf } from '../rules/identifier-type-rules.ts';
import { clientSecret, errorFrom, fakeConnectors, rightFile, temporaryFolder } from '../test-support.ts';
import { loadAgain, loadWithConnectors } from './load.ts';

const environment = { ACME_CLIENT_SECRET: clientSecret };
const withTypes = { name: 'typed', settingsSchema: { type: 'object', properties: { type: identifierTypeSchema() } } };
const typed = { ...withTypes, open: async () => Promise.reject(new Error('never opened')) };
const ownType = `identifier_types:
  - { id: zz_card, name: Card number, of: patient, pattern: '[0-9]{8}', systems: ['https://example.org/card'] }
`;

afterEach(() => declareTypesOf({}));

/** Starts with one text, and reads another one. */
async function startThenRead(first: string, second: string) {
  const source = {
    path: join(await temporaryFolder(), 'crossward.yaml'),
    connectors: [...fakeConnectors, typed],
    environment,
  };
  await writeFile(source.path, first);
  const { file, configuration } = await loadWithConnectors(source);
  await writeFile(source.path, second);
  return { started: configuration, reading: loadAgain(source, file) };
}

const north = (text: string) => text.replace('name: North', 'name: South');

test('EHRs and clients are those of the file, and other settings wait for a restart', async () => {
  const first = `${rightFile}http: { public_url: 'https://a.example.org', drain_seconds: 7 }\nidentifier_headers: [number]\n`;
  const second = `${north(rightFile).replace('id: acme', 'id: beta')}http: { public_url: 'https://b.example.org', drain_seconds: 7 }
retention: { event_days: 9 }
`;
  const { started, reading } = await startThenRead(first, second);
  const { configuration, isChanged, waiting } = await reading;
  expect(configuration.emrs.map(({ name }) => name)).toEqual(['South']);
  expect(configuration.clients.map(({ id }) => id)).toEqual(['beta']);
  expect({ ...configuration, emrs: [], clients: [] }).toEqual({ ...started, emrs: [], clients: [] });
  expect([isChanged, waiting]).toEqual([true, ['http.public_url', 'identifier_headers', 'retention.event_days']]);
});

test('a file that says the same in another way changes nothing', async () => {
  const { reading } = await startThenRead(rightFile, `# A comment\n${rightFile}http: {}\n`);
  expect(await reading).toMatchObject({ isChanged: false, waiting: [] });
});

test('what needs a setting that waits for a restart is a mistake at its place', async () => {
  const needsCodes = north(rightFile).replace(
    '    care_units:',
    '    policies: { booking_confirmation: code }\n    care_units:',
  );
  const second = `${needsCodes}messages: { sms: { provider: demo_mailbox } }\n`;
  const { mistakes } = await errorFrom((await startThenRead(rightFile, second)).reading);
  expect(mistakes).toEqual([
    expect.stringMatching(
      /crossward\.yaml:6:39: emrs\[0\]\.policies\.booking_confirmation: requires a message channel.*change at a restart\)$/,
    ),
  ]);
});

test('types of identifiers are those of the running gateway, whatever the file says', async () => {
  const useType = rightFile
    .replace('connector: sandbox', 'connector: typed')
    .replace('{ country: "NO" }', '{ type: zz_card }');
  const { reading } = await startThenRead(`${ownType}${useType}`, rightFile);
  await reading;
  expect(identifierType('zz_card')?.name).toBe('Card number');

  const added = await startThenRead(rightFile, `${ownType}${useType}`);
  const { mistakes } = await errorFrom(added.reading);
  expect(mistakes).toEqual([expect.stringMatching(/settings\.type: .*change at a restart\)$/)]);
  expect(identifierType('zz_card')).toBeUndefined();
  const unused = await startThenRead(rightFile, `${ownType}${north(rightFile)}`);
  expect(await unused.reading).toMatchObject({ waiting: ['identifier_types'] });
  expect(identifierType('zz_card')).toBeUndefined();
});

test('a file with a mistake leaves the types of the running gateway', async () => {
  const { reading } = await startThenRead(`${ownType}${rightFile}`, rightFile.replace('name: North', 'nam: North'));
  const { mistakes } = await errorFrom(reading);
  expect(mistakes[0]).toMatch(/crossward\.yaml:2:5: /);
  expect(identifierType('zz_card')?.name).toBe('Card number');
});
