/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import {
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  isFree,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { bookByCode, codeFor } from '../../../test/requests/codes.ts';
import { lock, pagePath } from '../../../test/requests/patient-page.ts';
import { expectProblem } from '../../../test/requests/problems.ts';
import { returnUrl, startPages } from './test-pages.ts';

const { gateway, browser, sweden, uk } = await startPages();
afterAll(() => gateway.close());

describe('the way back', () => {
  const linkIn = (html: string) => /class="button[^"]*" href="(https:[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');

  test('carries the outcome and the id, once there is one', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { body: appointment } = await sweden.create({
      ...creationBody(slot),
      return_url: `${returnUrl}?visit=7&outcome=confirmed`,
    });
    const path = pagePath(appointment);
    expect(linkIn((await browser.open(path)).html)).toBeUndefined();
    const page = await browser.enter(path, await codeFor(gateway, appointment.id));
    expect(linkIn(page.html)).toBe(`${returnUrl}?visit=7&outcome=confirmed&appointment_id=${appointment.id}`);
  });

  test.each([
    ['cancelled', (path: string) => browser.submit(path, { action: 'cancel' })],
    ['expired', async (path: string, code: string) => browser.enter(path, code)],
  ])('says %s', async (outcome, end) => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { body: appointment } = await sweden.create({ ...creationBody(slot), return_url: returnUrl });
    const code = await codeFor(gateway, appointment.id);
    if (outcome === 'expired') await lock(gateway, appointment, code);
    const { html } = await end(pagePath(appointment), code);
    expect(linkIn(html)).toBe(`${returnUrl}?outcome=${outcome}&appointment_id=${appointment.id}`);
  });

  test('says cancelled after a cancellation', async () => {
    const original = await book(gateway, { careUnit: riverside });
    const { body: view } = await uk.cancel(original.id, { return_url: returnUrl });
    const { html } = await browser.enter(pagePath(view), await codeFor(gateway, view.id));
    expect(linkIn(html)).toBe(`${returnUrl}?outcome=cancelled&appointment_id=${view.id}`);
  });

  test('is there after a reschedule that needs a code', async () => {
    const slots = await consecutiveSlots(gateway, 2, { careUnit: sodermalm });
    const [first, last] = slots as [Slot, Slot];
    const { id } = await bookByCode(gateway, { slot: first });
    const { body } = await sweden.changeMany([id], { start: first.start, end: last.end, return_url: returnUrl });
    const added = body.appointments.find((it) => it.id !== id);
    if (!added) throw new Error('The reschedule adds no appointment');
    const { html } = await browser.enter(pagePath(added), await codeFor(gateway, added.id));
    expect(linkIn(html)).toBe(`${returnUrl}?outcome=confirmed&appointment_id=${added.id}`);
  });

  test('leads only where the configuration of the client allows', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const response = await sweden.create({ ...creationBody(slot), return_url: 'https://elsewhere.example.org/done' });
    expectProblem(response, 400, 'return_url_not_allowed');
    expect(response.body.errors).toMatchObject([{ pointer: '/return_url' }]);
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
  });
});
