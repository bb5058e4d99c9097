import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reasonNames, reasons } from '../server/src/problems/reasons.ts';
import { type Gateway, startGateway } from './gateway.ts';

const browser = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
const isMissing = !existsSync(browser);

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

if (isMissing) {
  const text = `There is no ${browser}. Install Chromium, or say in CHROMIUM_PATH where it is.`;
  if (process.env.CI) {
    test('Chromium is there', () => {
      throw new Error(text);
    });
  } else {
    process.stderr.write(`Skipped: the tests in a browser. ${text}\n`);
  }
}

/** Chromium starts slowly where other tests keep the cores busy. */
const patience = { timeout: 120_000 };

// Where there is no Chromium on a user's machine; the text above says so, and CI fails.
describe.skipIf(isMissing)('in a browser', patience, () => {
  let gateway: Gateway;
  let profile: string;
  let context: BrowserContext;
  let page: Page;
  let requests: URL[];
  let complaints: string[];

  beforeAll(async () => {
    gateway = await startGateway();
    profile = await mkdtemp(join(tmpdir(), 'crossward-browser-'));
    context = await chromium.launchPersistentContext(profile, {
      executablePath: browser,
      headless: true,
      args: flags,
      viewport: { width: 1280, height: 1000 },
      baseURL: `http://127.0.0.1:${gateway.port}`,
    });
    context.setDefaultTimeout(patience.timeout);
  });

  afterAll(async () => {
    await context?.close();
    await gateway?.close();
    await rm(profile, { recursive: true, force: true });
  });

  beforeEach(async () => {
    requests = [];
    complaints = [];
    page = await context.newPage();
    page.on('request', (request) => requests.push(new URL(request.url())));
    page.on('console', (message) => {
      // What violates the content security policy is among the errors.
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  afterEach(async () => {
    await page.close();
    const isOurs = ({ protocol, host }: URL) =>
      ['data:', 'blob:'].includes(protocol) || host === `127.0.0.1:${gateway.port}`;
    expect(requests.filter((url) => !isOurs(url)).map(String)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test.each(['/docs', '/docs/'])('%s shows every operation, without credentials', async (address) => {
    await page.goto(address);
    for (const { summary } of gateway.app.operations.values()) await page.getByText(summary).first().waitFor();
    // Not `networkidle`, which never comes where the page goes quiet before anybody listens.
    await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))');
    expect(requests.map(({ pathname }) => pathname)).toContain('/api/openapi.json');
  });

  test('an operation can be tried out', async () => {
    const { id, secret } = gateway.credentials('everything');
    await page.goto('/docs/');
    const credentials = page.locator('.scalar-password-input');
    await credentials.nth(0).fill(id);
    await credentials.nth(1).fill(secret);
    await page.getByRole('button', { name: 'Test Request' }).first().click();
    const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/emrs');
    await page.getByRole('button', { name: 'Send' }).first().click();
    expect((await answer).status()).toBe(200);
  });

  test('every reason has its page', async () => {
    for (const reason of reasonNames) {
      await page.goto(`/problems/${reason}`);
      expect(await page.getByRole('heading').innerText()).toBe(reasons[reason].title);
      const main = page.getByRole('main');
      expect(await main.innerText()).toContain('What to do');
      // As narrow as its style sheet makes it.
      expect((await main.boundingBox())?.width).toBeLessThan(700);
    }
  });

  test('a script that is not of the page is refused', async () => {
    await page.goto('/docs/');
    await expect(page.addScriptTag({ content: 'globalThis.intruder = true' })).rejects.toThrow();
    expect(await page.evaluate('globalThis.intruder')).toBeUndefined();
    expect(complaints.splice(0).join('\n')).toContain('Content Security Policy');
  });
});
