import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertHistory } from '../../../../test/database/history-rows.ts';
import { type Gateway, startGateway } from '../../../../test/gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../../../../test/processes/browser.ts';
import { signIn, tooWide, violationsIn } from '../../../../test/processes/page-checks.ts';
import { newOperator, withConsole } from '../../../../test/requests/console.ts';
import { resolveConsole } from '../../config/console-settings.ts';
import { lastDays } from '../../history/columns.ts';

/** Widths in pixels, with sizes of text in percent. */
const sizes = [
  [1280, 100],
  [360, 100],
  [320, 100],
  [640, 200],
] as const;
/** A folder for pictures. */
const screenshots = process.env.SCREENSHOTS;

// Skipped without Chromium on a developer's machine. CI fails instead.
describe.skipIf(isBrowserMissing())(
  'in a browser, the plots of the console',
  { timeout: browserTimeout.timeout },
  () => {
    let gateway: Gateway;
    let browser: Awaited<ReturnType<typeof startBrowser>>;
    let page: Page;

    beforeAll(async () => {
      gateway = await startGateway({
        configure: (demo) => {
          const { url: _, ...console } = resolveConsole({ url: 'http://localhost', local_accounts: true }, {});
          return { ...withConsole(demo), console };
        },
      });
      const operator = await newOperator(gateway, 'kari.nordmann', 'view');
      await insertHistory(gateway.database, lastDays(new Date(), 'UTC')[0]?.from ?? new Date());
      browser = await startBrowser(`http://127.0.0.1:${gateway.port}`);
      page = await browser.context.newPage();
      await signIn(page, operator);
      if (screenshots) await mkdir(screenshots, { recursive: true });
    }, browserTimeout.timeout);
    afterAll(async () => {
      await browser?.close();
      await gateway?.close();
    });

    /** What is read to somebody who does not see the image. */
    const namesOfImages = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('.plot svg')].map((it) =>
      document.getElementById(it.getAttribute('aria-labelledby')).textContent)`);

    test.each([
      ['', 'hours'],
      ['/history', 'days'],
    ])('at /console%s meet WCAG 2.2 AA in both themes, and fit 320 pixels and text at 200 %%', async (path, name) => {
      const found: string[] = [];
      await page.goto(`/console${path}`);
      await page.evaluate(axe.source);
      for (const isOpen of [false, true]) {
        await page.evaluate(`for (const it of document.querySelectorAll('details')) it.open = ${isOpen}`);
        for (const theme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: theme });
          for (const [width, size] of sizes) {
            await page.setViewportSize({ width, height: 1000 });
            await page.evaluate(`document.documentElement.style.fontSize = '${size}%'`);
            const label = `${name}-${theme}-${width}${isOpen ? '-open' : ''}`;
            found.push(...(await tooWide(page)).map((it) => `${label} too wide: ${it}`));
            if (screenshots) await page.screenshot({ path: join(screenshots, `${label}.png`), fullPage: true });
          }
          const rules = theme === 'light' ? undefined : ['color-contrast'];
          found.push(...(await violationsIn(page, rules)).map((it) => `${name} ${theme}: ${it}`));
        }
      }
      expect(found).toEqual([]);
      expect(await namesOfImages()).toEqual(expect.arrayContaining([expect.stringMatching(/^Bookings: [\d,]+$/)]));
      expect(await page.evaluate('document.querySelectorAll("script").length')).toBe(0);
    });
  },
);
