import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { test } from 'vitest';

/** The shell, which draws no window, takes half of the processor time. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executable = process.env.CHROMIUM_PATH || (installed.find((path) => existsSync(path)) ?? '/usr/bin/chromium');
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium starts slowly while other tests use the CPU. */
export const browserTimeout = { timeout: 300_000 };
/** Milliseconds to wait for a page or an element. */
const patience = 120_000;

/**
 * Whether Chromium is missing. Tests that need it are then skipped on a developer's machine. In CI, this declares a test
 * that fails.
 */
export function isBrowserMissing(): boolean {
  if (existsSync(executable)) return false;
  const text = `Chromium was not found at ${executable}. Install it, or set CHROMIUM_PATH to its path.`;
  if (process.env.CI) {
    test('Chromium is installed', () => {
      throw new Error(text);
    });
  } else {
    process.stderr.write(`Browser tests skipped. ${text}\n`);
  }
  return true;
}

/** Starts Chromium with a profile of its own. */
export async function startBrowser(baseURL: string): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const profile = await mkdtemp(join(tmpdir(), 'crossward-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable,
    headless: true,
    args: flags,
    viewport: { width: 1280, height: 1000 },
    // To draw animations without a graphics card takes a sixth of the processor time of a page.
    reducedMotion: 'reduce',
    baseURL,
  });
  context.setDefaultTimeout(patience);
  return {
    context,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
