// Starts the demo, uses it, and takes the pictures of the README: npm run pictures
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { createCrosswardClient } from '../../client/src/index.ts';
import { messages } from '../../examples/walkthrough/mailbox.ts';
import { startBrowser } from '../processes/browser.ts';
import { startChild } from '../processes/child-gateway.ts';
import { freePort } from '../processes/free-port.ts';

const folder = fileURLToPath(new URL('../../docs/pictures', import.meta.url));
/** Bytes. The README loads both. */
const mostBytes = 150_000;

const dataDir = join(await mkdtemp(join(tmpdir(), 'crossward-pictures-')), 'data');
// Links to the page for patients need a port that is known before the start.
const gateway = await startChild({ dataDir, variables: { PORT: String(await freePort()) } });
const browser = await startBrowser(gateway.address);
try {
  await mkdir(folder, { recursive: true });
  const path = await useDemo();
  const page = await browser.context.newPage();
  // The least width at which cards and plots fill whole rows.
  await page.setViewportSize({ width: 1140, height: 1000 });
  await signIn(page);
  // The state of an EHR appears in the plots within a minute.
  while ((await page.content()).includes('State: not known')) {
    await pause(1000);
    await page.reload();
  }
  const plots = await page.locator('.plot').nth(3).boundingBox();
  await page.setViewportSize({ width: 1140, height: Math.round((plots?.y ?? 0) + (plots?.height ?? 0)) + 16 });
  await photograph(page, 'console');
  await page.setViewportSize({ width: 720, height: 760 });
  await page.goto(path);
  await photograph(page, 'page-for-patients');
} finally {
  await browser.close();
  await gateway.kill();
  await rm(join(dataDir, '..'), { recursive: true, force: true });
}

/** Books, moves and cancels, and returns the link with which a patient confirms a booking. */
async function useDemo(): Promise<string> {
  const { 'x-service-client-id': clientId, 'x-service-client-secret': clientSecret } = gateway.credentials;
  const client = createCrosswardClient({ baseUrl: gateway.address, clientId, clientSecret });
  const oslo = client.careUnit('sandbox-no', 'oslo-sentrum');
  const [spare, ...slots] = await freeSlots(oslo, 9);
  for (const [index, slot] of slots.entries()) {
    const { id } = await oslo.appointments.create(creation(slot));
    if (index === 0) await oslo.appointments.update(id, { start: spare?.start ?? '', end: spare?.end ?? '' });
    if (index === 1) await oslo.appointments.cancel(id);
  }
  await freeSlots(client.careUnit('sandbox-uk', 'riverside'), 1);
  const sodermalm = client.careUnit('sandbox-se', 'sodermalm');
  const [first, second] = await freeSlots(sodermalm, 2);
  if (!first || !second) throw new Error('No time is free in the demo');
  const confirmed = await sodermalm.appointments.create(creation(first));
  const [code = ''] = /\b\d{6}\b/.exec(await messageAbout(confirmed.id)) ?? [];
  await sodermalm.appointments.confirm(confirmed.id, code);
  const held = await sodermalm.appointments.create(creation(second));
  const link = held.confirmation?.page_url;
  if (!link) throw new Error('The booking has no page');
  return link;
}

type CareUnit = ReturnType<ReturnType<typeof createCrosswardClient>['careUnit']>;

async function freeSlots(careUnit: CareUnit, limit: number) {
  const [start, end] = [7, 35].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const filter = { resource_id: ['r-1'], healthcare_service_id: ['consultation'], limit };
  const { items } = await careUnit.timeSlots.list({ start: start ?? '', end: end ?? '', ...filter }).firstPage();
  return items;
}

function creation({ start, end, resource_id, healthcare_service_id }: Awaited<ReturnType<typeof freeSlots>>[number]) {
  return { patient_id: 'p-3', resource_id, healthcare_service_id, start_time: start, end_time: end };
}

/** Waits for the message in the mailbox of the demo. */
async function messageAbout(appointmentId: string): Promise<string> {
  for (;;) {
    const found = (await messages(gateway.address))?.find((it) => it.appointment_id === appointmentId);
    if (found) return found.text;
    await pause(100);
  }
}

async function signIn(page: Page): Promise<void> {
  const { name, password } = JSON.parse(await readFile(join(dataDir, 'demo-operator.json'), 'utf8'));
  await page.goto('/console/sign-in');
  await page.fill('#name', name);
  await page.fill('#password', password);
  await page.press('#password', 'Enter');
  await page.waitForURL((url) => url.pathname === '/console');
}

/** Playwright writes PNG and JPEG only; WebP is a third of PNG's size. */
async function photograph(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.webp`);
  const session = await browser.context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 90 });
  const picture = Buffer.from(data, 'base64');
  if (picture.length > mostBytes) throw new Error(`${path} has ${picture.length} bytes, more than ${mostBytes}`);
  await writeFile(path, picture);
  process.stdout.write(`${path}: ${picture.length} bytes\n`);
}
