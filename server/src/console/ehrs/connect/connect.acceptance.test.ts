/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../../../../connectors/fhir-r4/fake/server.ts';
import { startGateway } from '../../../../../test/gateway/gateway.ts';
import { eventually } from '../../../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../../../test/requests/console.ts';
import { listActivity } from '../../audit/activity.ts';

const token = 'kanari-token-typed-in-the-console-08';
let accepted = token;
const fake = await startFake({
  authorization: () => `Bearer ${accepted}`,
  habits: { namesItself: 'https://inside.example/fhir' },
});
const gateway = await startGateway({ configure: withConsole, logLevel: 'debug' });
afterAll(async () => {
  await gateway.close();
  await fake.close();
});
const { db } = gateway.deps.services;

const settings = {
  name: 'North clinic',
  'settings.base_url': fake.url,
  'settings.auth': 'bearer',
  'settings.auth.bearer.token': token,
  'settings.patient_identifier_types': 'se_personal_number',
};

test('an EHR is connected in the console: draft, settings, check, care units, open', async () => {
  const { browser } = await browserWith(gateway, 'ada', 'admin');
  const shown: string[] = [];
  const seen = async (page: ReturnType<typeof browser.open>) => {
    const found = await page;
    shown.push(found.html);
    return found;
  };
  expect((await seen(browser.open('/console/connections'))).html).toContain('new-connection');
  await browser.open('/console/new-connection');
  const wrong = await seen(browser.submit('/console/new-connection', { id: 'North', name: '', connector: 'none' }));
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('Nothing was stored.')]);
  const made = await seen(
    browser.submit('/console/new-connection', { id: 'north', name: 'North clinic', connector: 'fhir-r4' }),
  );
  expect(made.path).toBe('/console/connections/north/settings?result=created');
  for (const words of ['Base URL', 'Base URL of the FHIR interface, without a query.', 'Draft: called by checks only'])
    expect(made.text).toContain(words);

  // Without the address, the draft is stored and says what it lacks.
  const { 'settings.base_url': _, ...incomplete } = settings;
  const lacking = await seen(browser.submit('/console/connections/north/settings', incomplete));
  expect([lacking.status, lacking.text]).toEqual([
    200,
    expect.stringContaining('The draft is stored. It still needs:'),
  ]);
  expect(lacking.html).toMatch(/id="settings\.base_url"[^>]*aria-invalid="true"/);
  // Taken up later: the secret is kept, and not shown.
  const later = await seen(browser.open('/console/connections/north/settings'));
  expect(later.text).toContain('A secret is stored.');
  const saved = await seen(
    browser.submit('/console/connections/north/settings', { ...settings, 'settings.auth.bearer.token': token }),
  );
  expect(saved.path).toBe('/console/connections/north/check?result=saved');
  expect(fake.seen).toEqual([]);

  // The address is one of this machine.
  const rejected = await seen(browser.submit('/console/connections/north/check'));
  for (const words of ['The check has found a problem.', 'Allow private addresses'])
    expect(rejected.text).toContain(words);
  expect(fake.seen).toEqual([]);
  const allowed = await seen(browser.submit('/console/connections/north/apply', { private: 'yes' }));
  expect(allowed.path).toBe('/console/connections/north/check?result=applied');
  const checked = await seen(browser.submit('/console/connections/north/check'));
  expect(checked.text).toContain('The connection works.');
  expect(checked.text).not.toContain('Allow private addresses');
  expect(checked.text).toContain('Recommended settings');
  expect(checked.text).toContain(
    'own_base_urls [&quot;https://inside.example/fhir&quot;] Under Settings, with the secrets',
  );
  // No secret goes to another address.
  const elsewhere = JSON.stringify({ base_url: 'http://127.0.0.1:9/fhir' });
  const refused = await seen(browser.submit('/console/connections/north/apply', { settings: elsewhere }));
  expect(refused.text).toContain('This cannot be stored without the secrets');
  await seen(browser.submit('/console/connections/north/check'));
  const applied = /name="settings" value="([^"]+)"/.exec(checked.html)?.[1]?.replaceAll('&quot;', '"') ?? '{}';
  const again = await seen(browser.submit('/console/connections/north/apply', { settings: applied }));
  expect(again.path).toBe('/console/connections/north/check?result=applied');
  const report = await seen(browser.submit('/console/connections/north/check/report'));
  expect(report.text).toMatch(/: report on its connection Id north .*.* What works /);

  const early = await seen(browser.open('/console/connections/north/open'));
  expect(early.text).toContain('It still needs:');
  const units = await seen(browser.open('/console/connections/north/care-units'));
  expect(units.html).toContain('value="Europe/Stockholm"');
  const places = await seen(browser.submit('/console/connections/north/places'));
  expect(places.text).toContain('Places of the EHR');
  const [, use = ''] =
    /href="[./]*(console\/connections\/north\/care-units\?place=[^"]+north[^"]*)"/.exec(places.html) ?? [];
  const offered = await seen(browser.open(`/${use.replaceAll('&amp;', '&')}`));
  expect(offered.html).toContain('location: Location/north');
  const unit = {
    id: 'main',
    name: 'Main',
    time_zone: 'Europe/Stokholm',
    language: '"sv"',
    settings: 'location: Location/north',
  };
  const mistyped = await seen(browser.submit('/console/connections/north/care-units', unit));
  expect([mistyped.status, mistyped.text]).toEqual([
    400,
    expect.stringContaining('did you mean &quot;Europe/Stockholm&quot;?'),
  ]);
  const added = await seen(
    browser.submit('/console/connections/north/care-units', { ...unit, time_zone: 'Europe/Stockholm' }),
  );
  expect(added.text).toContain('{&quot;location&quot;:&quot;Location/north&quot;}');
  expect(gateway.deps.services.ehrs.has('north')).toBe(false);

  await browser.open('/console/connections/north/try');
  const tried = await seen(browser.submit('/console/connections/north/try', { care_unit: 'main' }));
  for (const words of ['The search works.', 'GET /Schedule', '2 services: consultation, vaccination'])
    expect(tried.text).toContain(words);
  await browser.open('/console/connections/north/open');
  accepted = 'another';
  const problem = await seen(browser.submit('/console/connections/north/open'));
  expect(problem.text).toContain('The EHR is not open: the check has found a problem.');
  accepted = token;
  await browser.open('/console/connections/north/open');
  const opened = await seen(browser.submit('/console/connections/north/open'));
  expect(opened.text).toContain('The EHR is open.');
  await eventually(() => expect(gateway.deps.services.ehrs.get('north')?.isOpen).toBe(true));

  await browser.open('/console/connections/north/try');
  const booked = await seen(
    browser.submit('/console/connections/north/try/booking', { booking_care_unit: 'main', patient: 'p-1' }),
  );
  expect(booked.text).toContain('Booking and cancellation work.');
  for (const words of ['GET /Patient/…', 'GET /Slot']) expect(booked.text).toContain(words);
  expect(booked.text).not.toContain('p-1');
  const told = await seen(browser.submit('/console/connections/north/check/report'));
  expect(told.text).toMatch(/What was tried Search worked, .* Booking and cancellation worked, /);

  const actions = (await listActivity(db, 50)).filter(({ target }) => target === 'north').map(({ action }) => action);
  expect([...new Set(actions)].toSorted()).toEqual([
    'connection_check',
    'emr_add',
    'emr_change',
    'emr_open',
    'emr_try_booking',
    'emr_try_search',
  ]);
  expect([...shown, ...gateway.logLines].join('\n')).not.toContain(token);

  const { browser: operator } = await browserWith(gateway, 'olav', 'operate');
  expect((await operator.open('/console/connections/north/settings')).status).toBe(403);
  expect((await operator.open('/console/connections')).html).not.toContain('new-connection');

  const sure = await seen(browser.open('/console/connections/north/open'));
  expect(sure.text).toContain('Remove');
  const unpaused = await seen(browser.submit('/console/connections/north/remove', { sure: 'on' }));
  expect(unpaused.text).toContain('Pause EHR north first, and wait for 40 seconds');
  await sql`INSERT INTO ehr_pauses (emr, paused_at) VALUES ('north', now() - interval '40 seconds')`.execute(db);
  await browser.submit('/console/connections/north/remove', { sure: 'on' });
  await eventually(() => expect(gateway.deps.services.ehrs.has('north')).toBe(false));
});

test('a form that was opened before a change changes nothing', async () => {
  const { browser } = await browserWith(gateway, 'berit', 'admin');
  await browser.open('/console/new-connection');
  await browser.submit('/console/new-connection', { id: 'twice', name: 'Twice', connector: 'gnuhealth' });
  const { browser: other } = await browserWith(gateway, 'cato', 'admin');
  await other.open('/console/connections/twice/settings');
  await browser.submit('/console/connections/twice/settings', { name: 'First' });
  const late = await other.submit('/console/connections/twice/settings', { name: 'Second' });
  expect(late.text).toContain('the EHR has been changed since the page was opened');
  expect((await browser.open('/console/connections/twice/settings')).html).toContain('value="First"');

  await other.open('/console/connections/twice/open');
  await browser.submit('/console/connections/twice/settings', { name: 'Third' });
  const removed = await other.submit('/console/connections/twice/remove', { sure: 'on' });
  expect(removed.html).toContain('The EHR has been changed meanwhile.');
});

test.each(['sandbox', 'fhir-r4', 'gp-connect', 'gnuhealth', 'rivta-scheduling', 'care', 'oscar'])(
  'the form for %s has an input for each setting',
  async (connector) => {
    const { browser } = await browserWith(gateway, `form-${connector}`, 'admin');
    const { html } = await browser.open('/console/new-connection');
    const title = new RegExp(`<option value="${connector}">([^<]+)</option>`).exec(html)?.[1];
    expect(title).toMatch(/^[A-Z].+ /);
    const page = await browser.submit('/console/new-connection', { id: `form-${connector}`, name: 'Form', connector });
    const module = gateway.deps.console?.configuration().connectors.find(({ name }) => name === connector);
    const { properties = {} } = (module?.settingsSchema ?? {}) as { readonly properties?: object };
    for (const key of Object.keys(properties)) expect(page.html).toContain(`id="settings.${key}"`);
    const ids = [...page.html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const labels = [...page.html.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id);
    expect(labels.filter((id) => !ids.includes(id))).toEqual([]);
  },
);
