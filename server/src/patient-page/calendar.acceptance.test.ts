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

test('the file is none of an appointment that is not confirmed, was cancelled, or cannot be read', async () => {
  const { path, code, appointment } = await bookWithPage(gateway);
  const file = `${path}/calendar.ics`;
  const open = () => gateway.request('GET', file, { client: null });
  const toThePage = { status: 303, headers: { location: `..${path.slice('/c'.length)}` } };
  expect(await open()).toMatchObject(toThePage);
  await browser.enter(path, code);
  expect((await open()).status).toBe(200);
  ehrs.of('sandbox-se').goDown();
  expect(await open()).toMatchObject(toThePage);
  ehrs.of('sandbox-se').comeUp();
  await gateway.ehr('sandbox-se').cancel(appointment.id);
  expect(await open()).toMatchObject(toThePage);

  const cancellation = await cancelWithPage(gateway);
  const done = await browser.enter(cancellation.path, cancellation.code);
  expect(calendarLink(done.html)).toBeUndefined();
  expect((await gateway.request('GET', `/c/${'a'.repeat(24)}/calendar.ics`, { client: null })).status).toBe(404);
});
