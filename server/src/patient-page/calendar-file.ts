import { hash } from 'node:crypto';

/** An appointment as it stands in a calendar. */
export interface CalendarEvent {
  /** Keeps an appointment that is added twice from appearing twice. Tells nothing about the appointment. */
  readonly uid: string;
  /** How often it was changed, so that a calendar replaces its entry: section 3.8.7.4. */
  readonly sequence: number;
  /** `undefined`: never, or it is not known. */
  readonly changedAt: Date | undefined;
  readonly isCancelled: boolean;
  readonly start: Date;
  /** `null`: the EHR does not say it. */
  readonly end: Date | null;
  readonly title: string;
  readonly place: string;
  readonly description: string;
}

/** A UID that tells nothing (RFC 7986 section 5.3), and stays the same if the appointment is moved. */
export function calendarUid(confirmationId: string, appointmentId: string): string {
  return hash('sha256', JSON.stringify(['calendar', confirmationId, appointmentId]), 'hex').slice(0, 32);
}

/**
 * An iCalendar file: RFC 5545. Times are in UTC, so calendars show them in the time zone of the patient. It has no METHOD, and a
 * cancelled appointment has the status alone: METHOD:CANCEL needs an ORGANIZER (RFC 5546 section 3.2.5), which is an address.
 */
export function calendarFile(events: readonly CalendarEvent[], now: Date): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Crossward//Appointments//EN',
    ...events.flatMap(({ uid, sequence, changedAt, isCancelled, start, end, title, place, description }) => [
      'BEGIN:VEVENT',
      `UID:${uid}`,
      // The later one of two with the same SEQUENCE is valid: a change of which the gateway has not heard (RFC 5546 section 2.1.5).
      `DTSTAMP:${utc(now)}`,
      `SEQUENCE:${sequence}`,
      ...(changedAt ? [`LAST-MODIFIED:${utc(changedAt)}`] : []),
      `DTSTART:${utc(start)}`,
      ...(end ? [`DTEND:${utc(end)}`] : []),
      `SUMMARY:${escaped(title)}`,
      `LOCATION:${escaped(place)}`,
      `DESCRIPTION:${escaped(description)}`,
      `STATUS:${isCancelled ? 'CANCELLED' : 'CONFIRMED'}`,
      'END:VEVENT',
    ]),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

function utc(instant: Date): string {
  return instant.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Section 3.3.11. Other control characters are not allowed in a text. */
function escaped(text: string): string {
  return text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|\r|\n/g, '\\n')
    .replace(/\p{Cc}/gu, ' ');
}

const longestLine = 75;

/** Section 3.1: a line has at most 75 octets. A further one begins with a space, and no character is split. */
function folded(line: string): string {
  let text = '';
  let octets = 0;
  for (const character of line) {
    const length = Buffer.byteLength(character);
    if (octets + length > longestLine) {
      text += '\r\n ';
      octets = 1;
    }
    text += character;
    octets += length;
  }
  return text;
}
