/** @module-tag any-database */
import ICAL from 'ical.js';
import { afterAll, expect, test } from 'vitest';
import { freeSlot, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf } from '../../../test/requests/codes.ts';
import { bookWithPage, cancelWithPage } from '../../../test/requests/patient-page.ts';
import { startPages } from './test-pages.ts';

const { gateway, ehrs, browser } = await startPages();
afterAll(() => gateway.close());

const calendarLink = (html: string) => /href="([^"]*calendar\.ics[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');

/** The file that a page links to. */
async function download(path: string, html: string) {
  const link = calendarLink(html);
  if (link === undefined) throw new Error('The page has no link to a calendar file');
  const { pathname, search } = new URL(link, `https://appointments.example.org${path}`);
  return gateway.request('GET', pathname + search, { client: null });
}

test('a confirmed appointment can be added to a calendar', async () => {
  const { appointment, path, code } = await bookWithPage(gateway);
  expect(calendarLink((await browser.open(path)).html)).toBeUndefined();
  const page = await browser.enter(`${path}?lang=en`, code);
  expect(page.text).toContain('Add to your calendar');
  const { status, headers, text } = await download(page.path, page.html);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/calendar; charset=utf-8',
    'content-disposition': 'attachment; filename="appointment.ics"',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
  });
  const [event, ...more] = new ICAL.Component(ICAL.parse(text))
    .getAllSubcomponents('vevent')
    .map((it) => new ICAL.Event(it));
  expect(more).toEqual([]);
  expect(event?.startDate.toJSDate()).toEqual(new Date(appointment.start));
  expect(event?.endDate.toJSDate()).toEqual(new Date(appointment.end));
  expect(event?.summary).toBe('Appointment at Södermalm');
  expect(event?.description).toContain('If you need to change or cancel, contact the clinic.');
  expect(text).not.toContain(appointment.id);
  // Added twice, it appears once.
  expect((await download(page.path, page.html)).text).toContain(`UID:${event?.uid}\r\n`);
});

test.each([
  ['an EHR with holds', sodermalm],
  ['an EHR without holds', '/api/emrs/no-hold/care-units/sodermalm'],
])('a calendar replaces its entry after each change, in %s', async (_, careUnit) => {
  const { appointment, path, code } = await bookWithPage(gateway, { careUnit });
  const page = await browser.enter(path, code);
  const read = async () => {
    const { text } = await download(page.path, page.html);
    const [event] = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((it) => new ICAL.Event(it));
    if (!event) throw new Error('There is no event');
    const { uid, sequence, startDate } = event;
    return { uid, sequence, start: startDate.toJSDate().toISOString(), isModified: text.includes('LAST-MODIFIED') };
  };
  const first = await read();
  expect(first).toMatchObject({ sequence: 0, start: new Date(appointment.start).toISOString(), isModified: false });
  expect(await read()).toEqual(first);
  for (const sequence of [1, 2, 3]) {
    const slot = await freeSlot(gateway, { careUnit, from: new Date(Date.now() + (20 + sequence) * 86_400_000) });
    const { start, end } = slot;
    const { status } = await careUnitOf(gateway, careUnit).change(appointment.id, { start, end });
    expect(status).toBe(200);
    expect(await read()).toEqual({ uid: first.uid, sequence, start: new Date(start).toISOString(), isModified: true });
  }
});

test.each([
  ['an EHR with holds', sodermalm],
  ['an EHR without holds', '/api/emrs/no-hold/care-units/sodermalm'],
])('a calendar learns that a confirmed appointment was cancelled, in %s', async (_, careUnit) => {
  const { appointment, path, code } = await bookWithPage(gateway, { careUnit });
  const page = await browser.enter(`${path}?lang=en`, code);
  const before = await download(page.path, page.html);
  expect(before.text).toContain('\r\nSTATUS:CONFIRMED\r\n');
  const { status } = await careUnitOf(gateway, careUnit).change(appointment.id, { status: 'cancelled' });
  expect(status).toBe(200);
  const cancelled = await browser.open(`${path}?lang=en`);
  expect(cancelled.text).toContain('Mark it as cancelled in your calendar');
  const after = await download(cancelled.path, cancelled.html);
  expect([after.status, ICAL.parse(after.text)[0]], after.text).toEqual([200, 'vcalendar']);
  for (const line of ['STATUS:CANCELLED', 'SEQUENCE:1', /UID:.*/.exec(before.text)?.[0].trim()]) {
    expect(after.text).toContain(`\r\n${line}\r\n`);
  }
  // Without an ORGANIZER, no METHOD.
  expect(after.text).not.toContain('METHOD');
});

test('of what staff cancel, too, and of nothing that was never confirmed', async () => {
  const confirmed = await bookWithPage(gateway);
  await browser.enter(confirmed.path, confirmed.code);
  await gateway.ehr('sandbox-se').cancel(confirmed.appointment.id);
  const file = await gateway.request('GET', `${confirmed.path}/calendar.ics`, { client: null });
  expect([file.status, file.text]).toEqual([200, expect.stringContaining('\r\nSTATUS:CANCELLED\r\n')]);

  const awaiting = await bookWithPage(gateway);
  const { status } = await careUnitOf(gateway, sodermalm).change(awaiting.appointment.id, { status: 'cancelled' });
  expect(status).toBe(200);
  expect(calendarLink((await browser.open(awaiting.path)).html)).toBeUndefined();
  expect((await gateway.request('GET', `${awaiting.path}/calendar.ics`, { client: null })).status).toBe(303);
});

test('the file is none of an appointment that is not confirmed, or cannot be read', async () => {
  const { path, code } = await bookWithPage(gateway);
  const file = `${path}/calendar.ics`;
  const open = () => gateway.request('GET', file, { client: null });
  const toThePage = { status: 303, headers: { location: `..${path.slice('/c'.length)}` } };
  expect(await open()).toMatchObject(toThePage);
  await browser.enter(path, code);
  expect((await open()).status).toBe(200);
  ehrs.of('sandbox-se').goDown();
  expect(await open()).toMatchObject(toThePage);
  ehrs.of('sandbox-se').comeUp();

  const cancellation = await cancelWithPage(gateway);
  const done = await browser.enter(cancellation.path, cancellation.code);
  expect(calendarLink(done.html)).toBeUndefined();
  expect((await gateway.request('GET', `/c/${'a'.repeat(24)}/calendar.ics`, { client: null })).status).toBe(404);
});
