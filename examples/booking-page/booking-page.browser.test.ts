import { type Connector, ConnectorError } from '@crossward/connector-kit';
import axe from 'axe-core';
import type { FastifyInstance } from 'fastify';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppointmentCreation, createCrosswardClient } from '../../client/src/index.ts';
import { wrapConnector } from '../../test/ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../../test/gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../../test/processes/browser.ts';
import { violationsIn } from '../../test/processes/page-checks.ts';
import { codeFor, incorrectCodes } from '../../test/requests/codes.ts';
import { createBookingPage } from './app.ts';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Skipped without Chromium on a developer's machine. CI fails instead.
describe.skipIf(isBrowserMissing())('the page for bookings', browserTimeout, () => {
  const site = {
    clinic: 'Södermalm',
    timeZone: 'Europe/Stockholm',
    language: 'sv' as const,
    patientOf: () => 'emr_id:p-3',
  };
  const clinics = [
    clinic('sandbox-se', 'sodermalm', 'Södermalm', 'Europe/Stockholm', ''),
    clinic('sandbox-uk', 'riverside', 'Riverside', 'Europe/London', 'http://riverside.test'),
  ];
  let isRiversideAway = false;
  const awayIfWanted = (connector: Connector, emr: string): Connector => ({
    ...connector,
    async listTimeSlots(query) {
      if (isRiversideAway && emr === 'sandbox-uk') throw new ConnectorError('unavailable', 'Away');
      return (await connector.listTimeSlots?.(query)) ?? [];
    },
  });
  let gateway: Gateway;
  let app: FastifyInstance;
  /** The page for a care unit that requires a code to cancel. */
  let careful: FastifyInstance;
  let address: string;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: Page;
  const messages: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    gateway = await startGateway({ connectors: [wrapConnector(awayIfWanted)] });
    const { id: clientId, secret: clientSecret } = gateway.credentials('everything');
    const client = createCrosswardClient({ baseUrl: `http://127.0.0.1:${gateway.port}`, clientId, clientSecret });
    const careUnit = client.careUnit('sandbox-se', 'sodermalm');
    app = createBookingPage({ ...site, careUnit, nearby: { timeSlots: client.timeSlots, clinics } });
    address = await app.listen({ host: '127.0.0.1', port: 0 });
    const riverside = {
      clinic: 'Riverside',
      timeZone: 'Europe/London',
      language: 'en' as const,
      patientOf: () => 'emr_id:p-3',
    };
    careful = createBookingPage({
      ...riverside,
      careUnit: client.careUnit('sandbox-uk', 'riverside'),
      nearby: { timeSlots: client.timeSlots, clinics },
    });
    browser = await startBrowser(address);
    page = await browser.context.newPage();
    page.on('console', (message) => messages.push(message.text()));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await careful?.close();
    await gateway?.close();
  });

  /** Checks the page that is shown, in both colour schemes and on a narrow screen. */
  async function check(heading: string): Promise<void> {
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.evaluate(axe.source);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsIn(page, standards), `${heading}, ${colorScheme}`).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    expect(isTooWide, `${heading}, 320 pixels`).toBe(false);
    await page.setViewportSize({ width: 1280, height: 1000 });
  }

  const idOf = () => new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const timeShown = () => page.locator('.when').innerText();
  const free = () => page.locator('.times a');
  /** Not the first one, which may begin before it is booked. */
  const someTime = () => free().last();
  const startOf = async (link: Locator) =>
    new URL((await link.getAttribute('href')) ?? '', address).searchParams.get('start');

  /** In the dark theme, in which `check` leaves the page. */
  const destructive = 'rgb(255, 180, 171)';
  const colour = (button: Locator) =>
    button.evaluate((it) => it.ownerDocument.defaultView?.getComputedStyle(it).backgroundColor);

  test('books, confirms with the code, moves and cancels', async () => {
    await page.goto('/');
    await check('Boka en tid');
    await page.getByRole('button', { name: 'Visa lediga tider' }).click();
    await check('Välj en tid');
    const first = await startOf(free().first());
    await page.getByRole('link', { name: 'Senare tider' }).click();
    await expect.poll(() => startOf(free().first())).not.toBe(first);
    await page.goBack();
    expect(await page.locator('html').getAttribute('lang')).toBe('sv');
    // Each person has a heading, and under it each day with a grid of times.
    const people = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(people).toEqual([...new Set(people)].sort((one, other) => one.localeCompare(other)));
    expect(people).toContain('Läkare Noggrann Provsson');
    const resource = people.at(-1) ?? '';
    const grid = page.locator('section').last().locator('.times').last();
    expect(await grid.evaluate((it) => it.children.length)).toBeGreaterThan(1);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.times')).display")).toBe('grid');
    expect(await someTime().innerText()).toMatch(/^\d\d:\d\d$/);
    expect(await someTime().getAttribute('aria-label')).toMatch(new RegExp(`^\\d\\d:\\d\\d, .+, ${resource}$`));
    await someTime().click();
    await check('Boka den här tiden');
    const time = await timeShown();
    const form = page.url();
    await page.getByRole('button', { name: 'Boka' }).click();

    await check('Din tid');
    const id = idOf();
    expect(await timeShown()).toBe(time);
    await page.getByText(`, ${resource}`).waitFor();
    // The form of the first request, as after a reload or the back button, books nothing else.
    await page.goto(form);
    await page.getByRole('button', { name: 'Boka' }).click();
    await page.waitForURL(/\/appointments\//);
    expect(idOf()).toBe(id);

    const code = await codeFor(gateway, id);
    // Six digits take about 90 pixels.
    const width = (await page.getByLabel('Kod').boundingBox())?.width;
    expect(width).toBeGreaterThan(115);
    expect(width).toBeLessThan(180);
    await page.getByLabel('Kod').fill(incorrectCodes(code, 1)[0] ?? '');
    await page.getByRole('button', { name: 'Bekräfta' }).click();
    await page.getByText('Koden är fel.').waitFor();
    await check('Din tid');
    await page.getByLabel('Kod').fill(code);
    await page.getByRole('button', { name: 'Bekräfta' }).click();
    await page.getByText('Tiden är bekräftad.').waitFor();
    await check('Din tid');

    await page.getByRole('link', { name: 'Flytta' }).click();
    await check('Välj en annan tid');
    await someTime().click();
    await check('Flytta din tid');
    const later = await timeShown();
    expect(later).not.toBe(time);
    await page.getByRole('button', { name: 'Flytta' }).click();
    await page.getByText('Tiden är flyttad.').waitFor();
    expect(await timeShown()).toBe(later);

    await page.goto('/');
    await page.getByRole('link', { name: later }).click();
    await page.getByRole('link', { name: 'Avboka' }).click();
    await check('Vill du avboka tiden?');
    expect(await colour(page.getByRole('button', { name: 'Avboka tiden' }))).toBe(destructive);
    await page.getByRole('button', { name: 'Avboka tiden' }).click();
    await page.getByText('Tiden är avbokad.').waitFor();
    await check('Din tid');

    await page.goto('/');
    await page.getByText('Du har inga tider.').waitFor();
    // Violations of the content security policy would be here.
    expect(messages).toEqual([]);
    expect([...hosts]).toEqual([new URL(address).host]);
  });

  test('cancels with a code where the care unit needs one', async () => {
    const start = await careful.listen({ host: '127.0.0.1', port: 0 });
    await page.goto(`${start}/times?service=consultation`);
    await someTime().click();
    const time = await timeShown();
    await page.getByRole('button', { name: 'Book' }).click();
    await page.getByText('Your time is booked.').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel the appointment' }).click();
    await page.getByText('Enter it to cancel the appointment.').waitFor();
    await check('Your appointment');
    expect(await colour(page.getByRole('button', { name: 'Confirm' }))).toBe(destructive);
    const id = idOf();
    const code = await codeFor(gateway, id);
    await page.getByLabel('Code').fill(incorrectCodes(code, 1)[0] ?? '');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('This code is incorrect.').waitFor();
    // The appointment stays booked until the code is entered.
    await page.goto(start);
    await page.getByRole('link', { name: time, exact: true }).waitFor();
    await page.goto(`${start}/appointments/${id}`);
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Your appointment is cancelled.').waitFor();
    await check('Your appointment');
    await page.goto(start);
    await page.getByText('You have no appointments.').waitFor();
  });

  test('offers the first times of all clinics, in order, each on the page of its clinic', async () => {
    await page.goto(address);
    await page.getByRole('button', { name: 'Första lediga tiderna nära dig' }).click();
    await check('Första lediga tiderna nära dig');
    const links = page.locator('main li a');
    const targets = await links.evaluateAll((all) => all.map((it) => it.getAttribute('href') ?? ''));
    const starts = targets.map((target) => Date.parse(new URL(target, address).searchParams.get('start') ?? ''));
    expect(targets).toHaveLength(6);
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    expect(targets.filter((target) => target.startsWith('http://riverside.test/book?'))).toHaveLength(3);
    await links.filter({ hasText: ', Södermalm, ' }).last().click();
    await check('Boka den här tiden');
  });

  test('names a clinic that does not answer, beside the times of the others', async () => {
    isRiversideAway = true;
    const { statusCode, body } = await app.inject({ method: 'GET', url: '/nearby?service=vaccination' });
    isRiversideAway = false;
    expect([statusCode, body.match(/<li>/g)?.length]).toEqual([200, 3]);
    expect(body).toContain('De här mottagningarna svarade inte. De kan ha tidigare tider: Riverside');
  });

  test('shows no appointment of another patient, and books nothing for another site', async () => {
    const other = await gateway.request<{ id: string }>(
      'POST',
      '/api/emrs/sandbox-se/care-units/sodermalm/appointments',
      { body: { ...(await freeTime()), patient_id: 'p-4' } },
    );
    expect(other.status).toBe(201);
    const cancel = { method: 'POST', url: `/appointments/${other.body.id}/cancel`, payload: { form: 'x' } } as const;
    for (const request of [{ method: 'GET', url: `/appointments/${other.body.id}` } as const, cancel]) {
      const { statusCode, body } = await app.inject(request);
      expect([statusCode, body]).toEqual([404, expect.stringContaining('Vi hittar inte den här tiden')]);
    }
    const foreign = await app.inject({ method: 'POST', url: '/book', headers: { 'sec-fetch-site': 'cross-site' } });
    expect(foreign.statusCode).toBe(403);
  });

  test('tells at once that a new code was requested too soon', async () => {
    const { id: clientId, secret: clientSecret } = gateway.credentials('everything');
    const problem = { reason: 'rate_limited', status: 429, retryable: true, detail: 'Simulated' };
    let requests = 0;
    const limited = createCrosswardClient({
      baseUrl: `http://127.0.0.1:${gateway.port}`,
      clientId,
      clientSecret,
      fetch: async (request) => {
        if (!request.url.endsWith('/confirmation')) return fetch(request);
        requests += 1;
        return Response.json(problem, { status: 429, headers: { 'retry-after': '25' } });
      },
    });
    const careUnit = limited.careUnit('sandbox-se', 'sodermalm');
    const impatient = createBookingPage({
      ...site,
      careUnit,
      nearby: { timeSlots: limited.timeSlots, clinics },
    });
    const { id } = await careUnit.appointments.create({ ...(await freeTime()), patient_id: 'p-3' });
    const url = `/appointments/${id}`;
    const { headers } = await impatient.inject({ method: 'POST', url: `${url}/resend`, payload: { form: 'x' } });
    expect(headers.location).toBe(`${url}?problem=rate_limited`);
    const { body } = await impatient.inject({ method: 'GET', url: headers.location ?? '' });
    expect(body).toContain('Vänta en halv minut');
    expect(requests).toBe(1);
  });

  /** A free time that does not begin soon, as the body of a booking. */
  async function freeTime(): Promise<Omit<AppointmentCreation, 'patient_id'>> {
    const { body } = await app.inject({ method: 'GET', url: '/times?service=consultation' });
    const link = [...body.matchAll(/href="(\/book\?[^"]+)"/g)].at(-1)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { searchParams: found } = new URL(link, address);
    return {
      resource_id: found.get('resource') ?? '',
      healthcare_service_id: found.get('service') ?? '',
      start_time: found.get('start') ?? '',
      end_time: found.get('end') ?? '',
    };
  }
});

function clinic(emr: string, care_unit_id: string, name: string, timeZone: string, url: string) {
  return { place: { emr, care_unit_id }, name, timeZone, url };
}
