import { describe, expect, test } from 'vitest';
import type { FakeServer } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { start } from './medical-notes-server.ts';
import { probeServer, settingsFor } from './subject.ts';

describe('the check of a connection', () => {
  const finding = async (server: FakeServer, settings: Partial<FhirSettings> = {}) => {
    const { findings, recommendedSettings } = await probeServer(settingsFor(server.url, settings));
    return { ...findings.find(({ name }) => name === 'medical notes'), recommended: recommendedSettings.medical_notes };
  };

  test('reports what the server supports, and writes nothing', async () => {
    const { server, save, documents } = await start();
    expect(await finding(server)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('list, read, create'),
    });
    expect(documents()).toEqual([]);
    save();
    expect(await finding(server)).toMatchObject({ status: 'ok', detail: expect.stringContaining('1 of these name') });
  });

  test('recommends a setting if no note names a care unit', async () => {
    const { server, save } = await start();
    save({ context: {} });
    const recommended = { care_unit: 'any' as const };
    expect(await finding(server)).toMatchObject({ status: 'warning', recommended });
    expect(await finding(server, { medical_notes: recommended })).toMatchObject({ status: 'ok' });
  });

  test('warns if no document has the category of notes', async () => {
    const { server, save } = await start();
    save({ category: [{ coding: [{ system: 'urn:other', code: 'note' }] }] });
    expect(await finding(server)).toMatchObject({ status: 'warning', detail: expect.stringContaining('category') });
  });

  test('says that a server without DocumentReferences has no notes', async () => {
    const server = await startFake({ documents: false, data: { days: 3 } });
    expect(await finding(server)).toMatchObject({ status: 'untried' });
  });
});
