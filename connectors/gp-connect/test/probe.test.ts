import { expect, test } from 'vitest';
import { gpConnectConnector } from '../src/connector.ts';
import type { GpConnectSettings } from '../src/settings.ts';
import { openPractice } from './practice.ts';
import { contextFor, settingsFor } from './subject.ts';

async function probe(url: string, more: Partial<GpConnectSettings> = {}) {
  const report = await gpConnectConnector.probe?.(contextFor(settingsFor(url, more)));
  if (!report) throw new Error('The connector has no probe');
  return { ...report, byName: new Map(report.findings.map((it) => [it.name, it])) };
}

test('the probe finds a practice whose slots the settings name', async () => {
  const { practice } = await openPractice();
  const { findings, recommendedSettings } = await probe(practice.url);
  expect(findings.map(({ name, status }) => [name, status])).toEqual([
    ['version', 'ok'],
    ['free slots', 'ok'],
    ['healthcare services', 'ok'],
    ['resources of main', 'ok'],
    ['resources of branch', 'ok'],
  ]);
  expect(recommendedSettings).toEqual({});
});

test('a practice says which version it has', async () => {
  const { practice } = await openPractice();
  expect(await gpConnectConnector.describe?.(contextFor(settingsFor(practice.url)))).toEqual({ software: ['1.2.7'] });
});

test('the probe recommends services for slots that nobody can book', async () => {
  const { practice } = await openPractice();
  const { byName, recommendedSettings } = await probe(practice.url, { healthcare_services: [] });
  expect(byName.get('healthcare services')).toMatchObject({ status: 'warning' });
  expect(recommendedSettings).toEqual({
    healthcare_services: [
      { id: 'general-gp-appointment', name: 'General GP Appointment', slot_type: 'General GP Appointment' },
      { id: 'nhs-health-check', name: 'NHS Health Check', slot_type: 'NHS Health Check' },
    ],
  });
});

test('the probe names practitioners and locations that the settings of a care unit do not', async () => {
  const { practice } = await openPractice();
  const careUnits = [
    {
      id: 'all',
      timeZone: 'Europe/London',
      settings: { resources: [{ reference: 'Practitioner/1', name: 'Dr One' }] },
    },
  ];
  const report = await gpConnectConnector.probe?.({ ...contextFor(settingsFor(practice.url)), careUnits });
  expect(report?.findings.at(-1)?.detail).toBe(
    'Not in the settings of the care unit: Location/2 (Branch Surgery), Practitioner/2 (Dr Practitioner Test2), Practitioner/3 (Dr Practitioner Test3).',
  );
});

test.each([
  [496, /requires a client certificate/],
  [403, /responded with 403/],
])('the probe says why a practice answers %i', async (status, words) => {
  const { practice } = await openPractice();
  practice.misbehave = () => ({ status, body: '' });
  const { byName } = await probe(practice.url);
  expect(byName.get('practice')).toMatchObject({ status: 'problem', detail: expect.stringMatching(words) });
});

test('the probe says that a practice cannot be reached', async () => {
  const { practice } = await openPractice();
  await practice.close();
  expect((await probe(practice.url)).byName.get('practice')).toMatchObject({ status: 'problem' });
});
