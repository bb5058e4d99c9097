import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reasons } from '../../server/src/problems/reasons.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../processes/browser.ts';
import { violationsIn } from '../processes/page-checks.ts';
import { bookByCode, codeFor } from '../requests/codes.ts';

const isMissing = isBrowserMissing();
/** All rules of axe in one theme, and in the other those that look at colours. */
const rulesFor = { light: undefined, dark: ['color-contrast', 'link-in-text-block'] };

// Skipped without Chromium on a developer's machine. CI fails instead, with the message above.
describe.skipIf(isMissing)('in a browser', browserTimeout, () => {
  let gateway: Gateway;
  let demo: Gateway;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: Page;
  let requests: URL[] = [];
  const browserErrors: string[] = [];
  const references = new Map<string, Promise<Page>>();

  beforeAll(async () => {
    gateway = await startGateway();
    demo = await startGateway({ beside: gateway, isDemo: true });
    await codeFor(gateway, (await bookByCode(gateway)).id);
    browser = await startBrowser(`http://127.0.0.1:${gateway.port}`);
  });

  afterAll(async () => {
    await browser?.close();
    await demo?.close();
    await gateway?.close();
  });

  beforeEach(async () => {
    page = await newPage();
  });

  afterEach(async () => {
    await page.close();
    const isGateway = ({ protocol, host }: URL) =>
      ['data:', 'blob:'].includes(protocol) || [gateway, demo].some(({ port }) => host === `127.0.0.1:${port}`);
    const elsewhere = requests.filter((url) => !isGateway(url)).map(String);
    requests = [];
    expect(elsewhere).toEqual([]);
    expect(browserErrors.splice(0)).toEqual([]);
  });

  async function newPage(): Promise<Page> {
    const opened = await browser.context.newPage();
    opened.on('request', (request) => requests.push(new URL(request.url())));
    opened.on('console', (message) => {
      // Violations of the content security policy are reported as errors.
      if (['error', 'warning'].includes(message.type())) browserErrors.push(message.text());
    });
    opened.on('pageerror', (error) => browserErrors.push(error.message));
    return opened;
  }

  /** The page of the reference, loaded once for all tests, because that takes ten seconds of processor time. */
  function referenceAt(url: string): Promise<Page> {
    const opened = references.get(url) ?? newPage().then((it) => it.goto(url).then(() => it));
    references.set(url, opened);
    return opened;
  }

  const startOfDemo = () => referenceAt(`http://127.0.0.1:${demo.port}/docs/`);
  const bookingOfDemo = () =>
    referenceAt(
      `http://127.0.0.1:${demo.port}/docs/#tag/appointments/POST/api/emrs/{emr}/care-units/{care_unit_id}/appointments`,
    );

  test('/docs shows every operation, without credentials', async () => {
    const reference = await referenceAt('/docs');
    for (const { summary } of gateway.app.endpointDeps.endpoints) await reference.getByText(summary).first().waitFor();
    // Not `networkidle`: that event is missed if the page is idle before the listener is added.
    await reference.evaluate('new Promise((resolve) => requestIdleCallback(resolve))');
    expect(requests.map(({ pathname }) => pathname)).toContain('/docs/reference.json');
  });

  test('an operation can be sent from the page', async () => {
    const { id, secret } = gateway.credentials('everything');
    const reference = await referenceAt('/docs');
    const credentials = reference.locator('.scalar-password-input');
    await credentials.nth(0).fill(id);
    await credentials.nth(1).fill(secret);
    expect(await statusOfListing(reference)).toBe(200);
  });

  test('blocks a script that is not part of the page', async () => {
    const reference = await referenceAt('/docs');
    await expect(reference.addScriptTag({ content: 'globalThis.intruder = true' })).rejects.toThrow();
    expect(await reference.evaluate('globalThis.intruder')).toBeUndefined();
    expect(browserErrors.splice(0).join('\n')).toContain('Content Security Policy');
  });

  test('the first sample of a response to a booking is that of a booking', async () => {
    const booking = (await bookingOfDemo()).getByRole('region', { name: 'Create an appointment' });
    await booking.getByRole('tab').first().waitFor();
    expect(await booking.getByRole('tab').first().innerText()).toContain('201');
  });

  test.each(['light', 'dark'] as const)('the reference works for everyone: %s', async (colorScheme) => {
    for (const open of [startOfDemo, bookingOfDemo]) {
      const reference = await open();
      await reference.emulateMedia({ colorScheme });
      await reference.locator('.code-input-lite__editor').first().waitFor();
      if (open === bookingOfDemo)
        await reference.getByRole('region', { name: 'Create an appointment' }).getByRole('tab').first().waitFor();
      // The page follows the theme of the system, in its own time.
      await reference.locator(`body.${colorScheme}-mode`).waitFor();
      await reference.evaluate(
        `Promise.allSettled(document.getAnimations().filter((it) => it instanceof CSSTransition).map((it) => it.finished))`,
      );
      await reference.evaluate(axe.source);
      expect(await violationsIn(reference, rulesFor[colorScheme]), reference.url()).toEqual([]);
    }
  });

  test('texts of the reference do not run into each other', async () => {
    const start = await startOfDemo();
    await start.setViewportSize({ width: 1280, height: 900 });
    const box = async (locator: Locator) => {
      await locator.waitFor();
      return locator.evaluate((it) => {
        const range = it.ownerDocument.createRange();
        range.selectNodeContents(it);
        const { left, right, top, bottom } = range.getBoundingClientRect();
        return { left, right, top, bottom };
      });
    };
    const heading = await box(start.getByRole('heading', { name: 'Authentication' }).last());
    const kind = await box(start.getByRole('button', { name: 'Selected Auth Type' }));
    expect(kind.left >= heading.right || kind.top >= heading.bottom, JSON.stringify([heading, kind])).toBe(true);

    const reference = await bookingOfDemo();
    await reference.setViewportSize({ width: 1280, height: 900 });
    const booking = reference.getByRole('region', { name: 'Create an appointment' });
    const tabs = booking.getByRole('tab');
    const schema = await box(booking.getByText('Show Schema').first());
    for (let index = 0; index < (await tabs.count()); index++) {
      const tab = await box(tabs.nth(index));
      const isApart = tab.right <= schema.left || tab.bottom <= schema.top || tab.top >= schema.bottom;
      expect(isApart, JSON.stringify([index, tab, schema])).toBe(true);
    }
  });

  test('a sample is shown as a whole in a low window, as at 200 %', async () => {
    const reference = await bookingOfDemo();
    await reference.setViewportSize({ width: 640, height: 450 });
    const booking = reference.getByRole('region', { name: 'Create an appointment' });
    await booking.locator('.response-card code').getByText('status').first().waitFor();
    const hidden = await booking
      .locator('.examples .scalar-card-content')
      .evaluateAll((them) => them.map((it) => it.scrollHeight - it.clientHeight));
    expect(hidden.length).toBeGreaterThan(3);
    expect(hidden.filter((height) => height > 0)).toEqual([]);
  });

  // Last, because it scrolls the page and opens a dialog.
  test('an operation of the demo can be sent without filling in anything', async () => {
    expect(await statusOfListing(await startOfDemo())).toBe(200);
  });

  /** Sends the operation that lists the EHRs. */
  async function statusOfListing(reference: Page): Promise<number> {
    // Operations are rendered when they come into view.
    await reference.evaluate("location.hash = 'tag/ehr-systems/GET/api/emrs'");
    const listing = reference.getByRole('region', { name: 'List EHRs' });
    await listing.getByRole('button', { name: 'Test Request' }).click();
    const emrsResponse = reference.waitForResponse((response) => new URL(response.url()).pathname === '/api/emrs');
    await reference.getByRole('button', { name: 'Send' }).first().click();
    return (await emrsResponse).status();
  }

  const pagesForDevelopers = [
    ...['/', '/demo/messages', '/problems/', '/problems/ehr_timeout', '/nothing'],
    ...['README.md', 'docs/guide/retries.md', 'client/README.md'].map((it) => `/demo/documents/${it}`),
  ];

  test.each(['light', 'dark'] as const)(
    'pages for developers work on small screens and for everyone: %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 320, height: 640 });
      for (const path of pagesForDevelopers) {
        await page.goto(`http://127.0.0.1:${demo.port}${path}`);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(320);
        await page.evaluate(axe.source);
        const violations = await violationsIn(page, rulesFor[colorScheme]);
        // The console of the browser tells the status of the page.
        if (path === '/nothing') expect(browserErrors.splice(0).join('\n')).toContain('404');
        expect(violations, path).toEqual([]);
      }
    },
  );

  // That each reason has a page with its texts is proved over HTTP.
  test('the page of a problem reason is shown in the style of the console', async () => {
    await page.goto('/problems/ehr_timeout');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(reasons.ehr_timeout.title);
    expect(await page.getByRole('main').innerText()).toContain('What to do');
    // The style sheet was loaded.
    expect(await page.evaluate("getComputedStyle(document.querySelector('header')).borderBottomStyle")).toBe('solid');
  });

  test('the status of a problem reason wraps to the edge of the text', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto('/problems/time_slot_unavailable');
    const lefts = await page.evaluate<number[]>(`(() => {
      const line = document.querySelector('h1 + p');
      const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      while (texts.nextNode());
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      return [line.getBoundingClientRect().left, [...range.getClientRects()].at(-1).left];
    })()`);
    expect(lefts[1]).toBe(lefts[0]);
  });

  test('the links to the statuses of errors stand side by side', async () => {
    await page.goto('/problems/');
    const tops = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.statuses li:last-child a')].slice(-2).map((it) => it.getBoundingClientRect().top)`,
    );
    expect(tops[1]).toBe(tops[0]);
    expect(tops).toHaveLength(2);
  });

  test('the entries of the menu stay where they are when one is current', async () => {
    const lefts = async (path: string) => {
      await page.goto(`http://127.0.0.1:${demo.port}${path}`);
      return page.evaluate<number[]>(
        `[...document.querySelectorAll('nav a')].map((it) => it.getBoundingClientRect().left)`,
      );
    };
    const start = await lefts('/');
    expect(start.length).toBeGreaterThan(3);
    expect(await lefts('/problems/')).toEqual(start);
    expect(await lefts('/demo/messages')).toEqual(start);
  });

  test('commands on the start page are copied by a button, and their lines do not wrap', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(`http://127.0.0.1:${demo.port}/`);
    const commands = page.getByRole('region', { name: 'Book an appointment' });
    await page.getByRole('button', { name: 'Copy: Book an appointment' }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toBe(await commands.textContent());
    expect(copied).toContain("curl -sS -w '\\n'");
    expect(await page.evaluate("getComputedStyle(document.querySelector('.commands')).whiteSpace")).toBe('pre');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });
});
