import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { probeServer, settingsFor } from './subject.ts';

/** What the check of a connection says about documents or schedules. */
async function check(
  part: 'documents' | 'schedules',
  options: FakeOptions = {},
  settings: Partial<FhirSettings> = {},
  document?: object,
) {
  const server = await startFake({ data: { days: 3 }, ...options });
  if (document) server.store.save(document as FhirResource);
  const before = server.store.all('DocumentReference').length;
  const { findings, recommendedSettings } = await probeServer(settingsFor(server.url, settings));
  expect([server.store.all('DocumentReference').length, server.store.all('Binary').length]).toEqual([before, 0]);
  const { status, detail = '' } = findings.find(({ name }) => name === part) ?? {};
  return { status, detail, recommended: recommendedSettings[part] };
}

describe('the check of documents', () => {
  const document = {
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: 'Patient/p-1' },
    content: [{ attachment: { contentType: 'application/pdf', data: 'JVBERi0=' } }],
  };

  test('says what the server lacks', async () => {
    expect(await check('documents', { documents: false })).toEqual({
      status: 'untried',
      detail:
        'There are no documents: the server does not offer DocumentReference (read, search-type, create, update), Binary (read, create).',
      recommended: undefined,
    });
  });

  test('counts documents that name a care unit', async () => {
    expect(await check('documents')).toMatchObject({ status: 'ok', detail: expect.stringContaining('None was found') });
    const placed = { ...document, context: { related: [{ reference: 'Location/north' }] } };
    expect(await check('documents', {}, {}, placed)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('Of 1 documents seen that are no notes, 1 name a care unit.'),
    });
  });

  test('recommends a setting if none names a care unit', async () => {
    const recommended = { care_unit: 'any' as const };
    expect(await check('documents', {}, {}, document)).toMatchObject({ status: 'warning', recommended });
    expect(await check('documents', {}, { documents: recommended }, document)).toMatchObject({
      status: 'ok',
      recommended: undefined,
    });
  });
});

describe('the check of schedules', () => {
  const schedules = { write: true };

  test.each<[string, FakeOptions, Partial<FhirSettings>, string, RegExp]>([
    ['are written', {}, { schedules }, 'ok', /with Slots for 92 days ahead\.$/],
    [
      'are written in parts',
      { transactionSize: 50 },
      { schedules, booking: { transaction_size: 50 } },
      'ok',
      /up to 49 slots at once/,
    ],
    ['could be written', {}, {}, 'note', /would also take new ones/],
    ['are read alone', { transactions: 'none' }, {}, 'note', /lacks bookings by transactions/],
  ])('says that they %s', async (_, options, settings, status, words) => {
    expect(await check('schedules', options, settings)).toEqual({
      status,
      detail: expect.stringMatching(words),
      recommended: undefined,
    });
  });

  test.each<[FakeOptions, Partial<FhirSettings>, string]>([
    [{ transactions: 'as_batch' }, {}, 'bookings by transactions'],
    [{ transactions: 'none', plainWrites: false }, {}, 'Schedule (create, update), Slot (create, update)'],
    [{}, { booking: { operation_lookup: false } }, 'operation ids'],
  ])('reports writes that the server cannot do: %o %o', async (options, settings, lacked) => {
    expect(await check('schedules', options, { ...settings, schedules })).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining(lacked),
      recommended: { write: false },
    });
  });
});
