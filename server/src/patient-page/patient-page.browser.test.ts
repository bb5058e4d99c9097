import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { careUnitPath, withEhr, withTolerantBreakers, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../../../test/processes/browser.ts';
import { tooWide, violationsIn } from '../../../test/processes/page-checks.ts';
import {
  bookEach,
  consecutiveSlots,
  creationBody,
  freeSlot,
  riverside,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  expireCode,
  incorrectCodes,
} from '../../../test/requests/codes.ts';
import {
  bookWithPage,
  browserOf,
  cancelWithPage,
  lock,
  pagePath,
  setDelivery,
  withPages,
} from '../../../test/requests/patient-page.ts';
import type { Configuration } from '../config/configuration.ts';
import { resolvePatientPage } from '../config/schema/patient-page.ts';
import { languages } from './language.ts';

const themes = ['light', 'dark'] as const;
const unavailable = careUnitPath('unavailable', 'sodermalm');
const returnUrl = 'https://booking.example.org/done';
/** Folder for a screenshot of each state, language and theme. */
const screenshots = process.env.SCREENSHOTS;

/** Dozens of pages, on a machine that may be busy. */
const manyPages = { timeout: 3 * browserTimeout.timeout };

const ehrs = faultyEhrs();

/** With everything that a page can show, and long texts. */
function configure(demo: Configuration): Configuration {
  const patient_page = resolvePatientPage({
    name: 'Södermalms vårdcentral och mödravårdsmottagning',
    address: 'Götgatan 1, 116 46 Stockholm',
    phone: '+46 8 000 00 00',
    logo_file: new URL('./test-logo.svg', import.meta.url).pathname,
  });
  const extended = withEhr(withPages(withTolerantBreakers(demo)), {
    id: 'unavailable',
    like: 'sandbox-se',
    policies: {},
  });
  return {
    ...extended,
    clients: extended.clients.map((client) => ({ ...client, return_urls: [returnUrl] })),
    emrs: extended.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((it) => (emr.id === 'sandbox-se' ? { ...it, patient_page } : it)),
    })),
  };
}

/** Brings a page into each state. Returns their paths. */
async function prepareStates(gateway: Gateway): Promise<Readonly<Record<string, string>>> {
  const sweden = careUnitOf(gateway, sodermalm);
  const { enter, submit } = browserOf(gateway);
  const newBooking = () => bookWithPage(gateway);

  const waiting = await newBooking();
  const resent = await newBooking();
  await backdateCode(gateway, confirmationOf(resent.appointment).id, 30);
  await submit(resent.path, { action: 'resend' });
  const incorrect = await newBooking();
  await enter(incorrect.path, incorrectCodes(incorrect.code, 1)[0] ?? '');
  const { body: withReturn } = await sweden.create({
    ...creationBody(await freeSlot(gateway, { careUnit: sodermalm })),
    return_url: returnUrl,
  });
  await enter(pagePath(withReturn), await codeFor(gateway, withReturn.id));
  const sending = await newBooking();
  await setDelivery(gateway, sending.appointment, 'queued');
  const late = await newBooking();
  await setDelivery(gateway, late.appointment, 'delayed');
  const failed = await newBooking();
  await setDelivery(gateway, failed.appointment, 'failed');
  const expired = await newBooking();
  await expireCode(gateway, expired.appointment);
  const locked = await newBooking();
  await lock(gateway, locked.appointment, locked.code);
  const cancelled = await newBooking();
  await submit(cancelled.path, { action: 'cancel' });
  const cancellation = await cancelWithPage(gateway);
  const done = await cancelWithPage(gateway);
  await enter(done.path, done.code);
  const several = await bookEach(gateway, await consecutiveSlots(gateway, 3, { careUnit: riverside }), {
    careUnit: riverside,
  });
  const { body } = await careUnitOf(gateway, riverside).changeMany(
    several.map(({ id }) => id),
    { status: 'cancelled' },
  );
  const [first] = body.appointments;
  const checking = await bookWithPage(gateway, { careUnit: unavailable });
  const away = await bookWithPage(gateway, { careUnit: unavailable });
  ehrs.of('unavailable').goDownDuring({ kind: 'confirm', isDone: false });
  await enter(checking.path, checking.code);
  return {
    waiting: waiting.path,
    resent: `${resent.path}?result=sent`,
    sending: sending.path,
    late: late.path,
    failed: failed.path,
    'too soon': `${waiting.path}?result=too_soon`,
    incorrect: `${incorrect.path}?result=incorrect`,
    malformed: `${waiting.path}?result=malformed`,
    cancelling: `${waiting.path}?step=cancel`,
    confirmed: pagePath(withReturn),
    expired: expired.path,
    locked: locked.path,
    releasing: `${locked.path}?step=cancel`,
    cancelled: cancelled.path,
    taken: `${cancelled.path}?result=taken`,
    cancellation: cancellation.path,
    'cancellation done': done.path,
    several: first ? pagePath(first) : '',
    checking: checking.path,
    unavailable: away.path,
    'unknown link': `/c/${'a'.repeat(24)}`,
  };
}

function inLanguage(path: string, language: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}lang=${language}`;
}

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The only rule that depends on the theme. */
const contrast = ['color-contrast'];

// Skipped without Chromium on a developer's machine. CI fails instead.
describe.skipIf(isBrowserMissing())('in a browser, the page', manyPages, () => {
  let gateway: Gateway;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: Page;
  let states: Readonly<Record<string, string>>;
  const problems: string[] = [];

  beforeAll(async () => {
    const connectors = [wrapConnector((connector, emr) => ehrs.faulty(connector, emr))];
    gateway = await startGateway({ configure, connectors });
    browser = await startBrowser(`http://127.0.0.1:${gateway.port}`);
    page = await browser.context.newPage();
    page.on('console', (message) => problems.push(message.text()));
    page.on('request', (request) => {
      const { hostname } = new URL(request.url());
      if (hostname !== '127.0.0.1' && hostname !== '') problems.push(`a request to ${hostname}`);
    });
    states = await prepareStates(gateway);
    if (screenshots) await mkdir(screenshots, { recursive: true });
  }, manyPages.timeout);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });

  async function photograph(name: string): Promise<void> {
    if (!screenshots) return;
    await page.screenshot({ path: join(screenshots, `${name.replaceAll(' ', '-')}.png`), fullPage: true });
  }

  test('meets WCAG 2.2 AA in every state, language and theme', async () => {
    const found: string[] = [];
    for (const [state, path] of Object.entries(states)) {
      for (const language of languages) {
        await page.goto(inLanguage(path, language));
        await page.evaluate(axe.source);
        for (const theme of themes) {
          await page.emulateMedia({ colorScheme: theme });
          const name = `${state} ${language} ${theme}`;
          const violations = await violationsIn(page, theme === 'light' ? standards : contrast);
          found.push(...violations.map((it) => `${name}: ${it}`));
          await photograph(name);
        }
      }
    }
    expect(found).toEqual([]);
    // Chromium reports the status of the pages of an unavailable EHR and of an unknown link.
    expect(problems.filter((it) => !it.startsWith('Failed to load resource'))).toEqual([]);
  });

  test('fits 320 pixels, and text and page at 200 %', async () => {
    for (const [state, path] of Object.entries(states)) {
      for (const language of languages) {
        await page.setViewportSize({ width: 320, height: 640 });
        await page.goto(inLanguage(path, language));
        expect(await tooWide(page), `${state} ${language}, 320 pixels`).toEqual([]);
        if (screenshots && language === 'nb') {
          await page.screenshot({
            path: join(screenshots, `narrow-${state.replaceAll(' ', '-')}.png`),
            fullPage: true,
          });
        }
        await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
        expect(await tooWide(page), `${state} ${language}, text at 200 %`).toEqual([]);
        if (language === 'nb') await photograph(`large ${state}`);
        // A window of 1280 pixels at 200 %.
        await page.setViewportSize({ width: 640, height: 400 });
        expect(await tooWide(page), `${state} ${language}, page at 200 %`).toEqual([]);
      }
    }
    await page.setViewportSize({ width: 1280, height: 1000 });
  });

  test('works with the keyboard alone, and shows the focus', async () => {
    const { path, code } = await bookWithPage(gateway);
    const focused = () =>
      page.evaluate<string>(`(document.activeElement.textContent.trim() || document.activeElement.id)`);
    const outline = () => page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
    await page.goto(inLanguage(path, 'en'));
    const order: string[] = [];
    for (let count = 0; count < 8; count++) {
      await page.keyboard.press('Tab');
      order.push(await focused());
      expect(await outline(), order.at(-1) ?? '').toBe('solid');
    }
    expect(order).toEqual([
      ...['Norsk', 'Svenska', 'English', 'code', 'Confirm', 'Send a new code', 'Cancel the appointment'],
      '+46 8 000 00 00',
    ]);

    await page.focus('#code');
    await page.keyboard.type(incorrectCodes(code, 1)[0] ?? '');
    await page.keyboard.press('Enter');
    await page.waitForURL(/result=incorrect/);
    await expect.poll(focused).toContain('The code is incorrect. You have 4 attempts left');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('code');
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => !url.search.includes('result'));
    expect(await page.textContent('h1')).toBe('Your appointment is confirmed');
  });

  test('changes its language, sends a new code, and cancels', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    await backdateCode(gateway, confirmationOf(appointment).id, 30);
    await page.goto(path);
    expect(await page.title()).toBe('Bekräfta din tid – Södermalms vårdcentral och mödravårdsmottagning');
    await page.click('text=Norsk');
    await expect.poll(() => page.getAttribute('html', 'lang')).toBe('nb');
    await page.click('text=Send ny kode');
    await page.waitForURL(/result=sent/);
    expect(await page.textContent('[role=status]')).toContain('En ny kode er på vei.');
    await page.click('text=Avbestill timen');
    await expect.poll(() => page.textContent('h1')).toBe('Vil du avbestille timen?');
    await page.click('text=Nei, gå tilbake');
    await expect.poll(() => page.textContent('h1')).toBe('Bekreft timen');
    await page.click('text=Avbestill timen');
    await page.click('text=Ja, avbestill');
    await page.waitForURL((url) => !url.search.includes('step'));
    expect(await page.textContent('h1')).toBe('Timen er avbestilt');
    // A reload sends no form again.
    await page.reload();
    expect(await page.textContent('h1')).toBe('Timen er avbestilt');
  });

  test('tells the button that cancels or releases from the one that confirms', async () => {
    const colour = (selector: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      for (const state of ['cancelling', 'releasing']) {
        await page.goto(states[state] ?? '');
        expect(await colour('button[value=cancel]')).toBe(
          theme === 'light' ? 'rgb(179, 38, 30)' : 'rgb(255, 180, 171)',
        );
      }
      const [booking, cancellation] = [states.waiting, states.cancellation];
      await page.goto(cancellation ?? '');
      const cancels = await colour('button[value=confirm]');
      await page.goto(booking ?? '');
      expect(cancels).toBe(theme === 'light' ? 'rgb(179, 38, 30)' : 'rgb(255, 180, 171)');
      expect(await colour('button[value=confirm]')).not.toBe(cancels);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  test('has a field at most twice as wide as its digits', async () => {
    const { path } = await bookWithPage(gateway);
    await page.goto(path);
    const digits = await page.evaluate<number>(`(() => {
      const field = document.querySelector('#code');
      const text = document.createElement('span');
      text.textContent = '000000';
      const { font, letterSpacing, fontVariantNumeric } = getComputedStyle(field);
      Object.assign(text.style, { font, letterSpacing, fontVariantNumeric, position: 'absolute' });
      document.body.append(text);
      const { width } = text.getBoundingClientRect();
      text.remove();
      return width;
    })()`);
    const { clientWidth, scrollWidth } = await page.evaluate<{ clientWidth: number; scrollWidth: number }>(
      `(() => { const it = document.querySelector('#code'); it.value = '000000'; return { clientWidth: it.clientWidth, scrollWidth: it.scrollWidth }; })()`,
    );
    expect(clientWidth).toBeLessThanOrEqual(2 * digits);
    expect(scrollWidth).toBe(clientWidth);
  });

  test('shows the help right below a short card', async () => {
    const { path, code } = await bookWithPage(gateway);
    await browserOf(gateway).enter(path, code);
    await page.goto(path);
    const gap = await page.evaluate<number>(
      `document.querySelector('footer').getBoundingClientRect().top - document.querySelector('.card').getBoundingClientRect().bottom`,
    );
    expect(gap).toBe(0);
  });

  test('shows the logo and the colours of the clinic', async () => {
    const { path } = await bookWithPage(gateway);
    await page.goto(path);
    const width = await page.evaluate<number>(`document.querySelector('header img').naturalWidth`);
    expect(width).toBeGreaterThan(0);
    await page.emulateMedia({ colorScheme: 'dark' });
    const background = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('button')).backgroundColor`,
    );
    expect(background).toBe('rgb(124, 196, 240)');
    await page.emulateMedia({ colorScheme: 'light' });
  });
});
