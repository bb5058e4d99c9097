import { Buffer } from 'node:buffer';
import ICAL from 'ical.js';
import { expect, test } from 'vitest';
import { type CalendarEvent, calendarFile, calendarUid } from './calendar-file.ts';

const now = new Date('2026-03-19T12:00:00Z');
const event: CalendarEvent = {
  uid: calendarUid('confirmation', 'appointment'),
  sequence: 0,
  changedAt: undefined,
  isCancelled: false,
  start: new Date('2026-03-20T08:00:00Z'),
  end: new Date('2026-03-20T08:30:00Z'),
  title: 'Time hos Oslo',
  place: 'Storgata 1',
  description: 'Rom: 4',
};

/** The events that another implementation of RFC 5545 reads. */
function readEvents(file: string) {
  const calendar = new ICAL.Component(ICAL.parse(file));
  return calendar.getAllSubcomponents('vevent').map((it) => new ICAL.Event(it));
}

test('a calendar reads times in UTC, and every event', () => {
  const later = { ...event, uid: calendarUid('confirmation', 'other'), start: new Date('2026-10-25T01:30:00Z') };
  const [first, second, ...more] = readEvents(calendarFile([event, later], now));
  expect(more).toEqual([]);
  expect([first?.startDate.toJSDate(), first?.endDate.toJSDate()]).toEqual([event.start, event.end]);
  expect(second?.startDate.toJSDate()).toEqual(later.start);
  expect([first?.uid, second?.uid]).toEqual([event.uid, later.uid]);
  expect(first?.uid).toMatch(/^[0-9a-f]{32}$/);
  expect(calendarUid('other', 'appointment')).not.toBe(event.uid);
});

test.each([
  'Södermalms vårdcentral; mödravård, plan 2',
  'a\\nb \\, c',
  'line one\nline two\r\nline three',
  `${'å'.repeat(200)} and ${'👩🏽‍⚕️'.repeat(40)}`,
  'BEGIN:VEVENT\r\nSUMMARY:injected',
  `${'x'.repeat(62)}\\;${'y'.repeat(80)}`,
])('a text arrives as it is: %j', (text) => {
  const [read, ...more] = readEvents(calendarFile([{ ...event, title: text, place: text, description: text }], now));
  expect(more).toEqual([]);
  const expected = text.replace(/\r\n/g, '\n');
  expect([read?.summary, read?.location, read?.description]).toEqual([expected, expected, expected]);
});

test('a line has at most 75 octets, ends with CRLF, and splits no character', () => {
  const file = calendarFile([{ ...event, description: '👩🏽‍⚕️å,'.repeat(100) }], now);
  const lines = file.split('\r\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(line).not.toMatch(/[\r\n\uFFFD]/);
    expect(line.isWellFormed()).toBe(true);
  }
  expect(lines.some((line) => Buffer.byteLength(line) > 71)).toBe(true);
});

test('a change has a higher number and its time', () => {
  expect(calendarFile([event], now)).toContain('SEQUENCE:0\r\n');
  expect(calendarFile([event], now)).not.toContain('LAST-MODIFIED');
  const file = calendarFile([{ ...event, sequence: 12, changedAt: new Date('2026-03-18T12:00:00.5Z') }], now);
  const [component] = new ICAL.Component(ICAL.parse(file)).getAllSubcomponents('vevent');
  expect(component && new ICAL.Event(component).sequence).toBe(12);
  expect(file).toContain('LAST-MODIFIED:20260318T120000Z\r\n');
  expect(file).toContain('DTSTAMP:20260319T120000Z\r\n');
});

test('control characters are left out', () => {
  expect(calendarFile([{ ...event, title: 'a\u0007b\u0085c' }], now)).toContain('SUMMARY:a b c\r\n');
});
