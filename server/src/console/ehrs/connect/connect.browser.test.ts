import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFake } from '../../../../../connectors/fhir-r4/fake/server.ts';
import { type Gateway, startGateway } from '../../../../../test/gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../../../../../test/processes/browser.ts';
import { signIn, tooWide, violationsIn } from '../../../../../test/processes/page-checks.ts';
import { eventually } from '../../../../../test/requests/codes.ts';
import { newOperator, type TestOperator, withConsole } from '../../../../../test/requests/console.ts';
import { resolveConsole } from '../../../config/console-settings.ts';

/** Folder for a picture of each page, theme and width. */
const screenshots = process.env.SCREENSHOTS;
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Skipped without Chromium on a developer's machine. CI fails instead.
describe.skipIf(isBrowserMissing())('in a browser, an EHR', { timeout: 3 * browserTimeout.timeout }, () => {
  let gateway: Gateway;
  let fake: Awaited<ReturnType<typeof startFake>>;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: Page;
  let operator: TestOperator;
  const found: string[] = [];

  beforeAll(async () => {
    fake = await startFake();
    gateway = await startGateway({
      configure(demo) {
        const { url: _, ...console } = resolveConsole({ url: 'http://localhost', local_accounts: true }, {});
        // Any loopback host name, because the port is not known yet.
        return { ...withConsole(demo), console };
      },
    });
    operator = await newOperator(gateway, 'kari.nordmann', 'admin');
    browser = await startBrowser(`http://127.0.0.1:${gateway.port}`);
    page = await browser.context.newPage();
    if (screenshots) await mkdir(screenshots, { recursive: true });
  }, browserTimeout.timeout);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await fake?.close();
  });

  async function look(name: string): Promise<void> {
    await page.evaluate(axe.source);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 1000 });
        const rules = theme === 'light' ? standards : ['color-contrast'];
        found.push(...(await violationsIn(page, rules)).map((it) => `${name} ${theme} ${width}: ${it}`));
        found.push(...(await tooWide(page)).map((it) => `${name} ${theme} ${width} too wide: ${it}`));
        if (screenshots)
          await page.screenshot({ path: join(screenshots, `${name}-${theme}-${width}.png`), fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1280, height: 1000 });
  }

  /** Clicks what leads to another page, and waits for that. */
  async function follow(selector: string): Promise<void> {
    await Promise.all([page.waitForEvent('load'), page.click(`main ${selector} >> nth=0`)]);
  }
  const press = (words: string) => follow(`button:has-text("${words}")`);
  const go = (words: string) => follow(`a:has-text("${words}")`);

  test('is connected through the console alone, on pages that meet WCAG 2.2 AA', async () => {
    await signIn(page, operator);
    await page.goto('/console/connections');
    await go('New connection');
    await look('1-new');
    await page.fill('#id', 'north-clinic');
    await page.fill('#name', 'North clinic');
    await page.selectOption('#connector', 'fhir-r4');
    await press('Go on');
    await page.fill('[id="settings.base_url"]', fake.url);
    await page.click('summary:has-text("Optional settings") >> nth=0');
    await page.fill('[id="settings.patient_identifier_types"]', 'se_personal_number');
    await page.click('summary:text-is("Connection")');
    await page.selectOption('[id="connection.allow_private_addresses"]', 'true');
    await look('2-settings');
    await press('Save and go on');
    await press('Check');
    await page.waitForSelector('text=The connection works.');
    await look('3-check');
    await go('Go on to the care units');
    await press('Ask the EHR for its places');
    await look('4-places');
    await go('Use');
    await press('Add the care unit');
    await look('4-care-unit');
    await go('Go on and try it');
    await press('Search');
    await page.waitForSelector('text=The search works.');
    await look('5-try');
    await go('Go on');
    await press('Check and open');
    await page.waitForSelector('text=The EHR is open.');
    await look('6-open');
    await eventually(() => expect(gateway.deps.services.ehrs.get('north-clinic')?.isOpen).toBe(true));
    await go('Try a booking');
    await page.fill('#patient', 'p-1');
    await press('Book and cancel');
    await page.waitForSelector('text=Booking and cancellation work.');
    await look('7-booking');
    await page.goto('/console/connections/north-clinic');
    await press('Report to hand over');
    await look('8-report');
    expect(found).toEqual([]);
  });
});
