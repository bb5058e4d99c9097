import { Temporal } from 'temporal-polyfill';
import type { Channel } from '../db/tables/messages.ts';
import type { Content } from './content.ts';
import { gsmSeptets, toGsm } from './gsm-alphabet.ts';
import type { MessageLanguage } from './outbox.ts';

/** The values in a text. `when` is in the language of the text. */
interface Parts {
  readonly clinic: string;
  readonly code: string;
  readonly when: string;
  readonly count: number;
  readonly minutes: number;
  /** The page where the code can be entered, if there is a link. */
  readonly url: string | null;
}

interface Wording {
  /** What the code is for, as part of a sentence. */
  booking(parts: Parts): string;
  cancellation(parts: Parts): string;
  sms(purpose: string, parts: Parts): string;
  /** For UCS-2, which leaves 70 characters. */
  shortSms(parts: Parts): string;
  readonly subjects: Record<Content['kind'], (clinic: string) => string>;
  email(purpose: string, parts: Parts): string[];
  /** Follows the text of an SMS. */
  link(url: string): string;
  date(day: Day): string;
}

interface Day {
  readonly weekday: number;
  readonly day: number;
  readonly month: number;
  readonly year: number;
  readonly hour: string;
  readonly minute: string;
}

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/** Every text for patients. Uses only the GSM alphabet, so that an SMS fits in one segment. */
const wordings: Record<MessageLanguage, Wording> = {
  nb: {
    booking: ({ when, count }) =>
      count === 1 ? `bekrefte timen ${when}` : `bekrefte ${count} timer, den første ${when}`,
    cancellation: ({ when, count }) =>
      count === 1 ? `avbestille timen ${when}` : `avbestille ${count} timer, den første ${when}`,
    sms: (purpose, { clinic, code, minutes }) =>
      `${clinic}: Bruk koden ${code} for å ${purpose}. Gyldig i ${plural(minutes, 'minutt', 'minutter')}.`,
    shortSms: ({ clinic, code, when, minutes }) => `${clinic}: kode ${code}, ${when}, ${minutes} min`,
    subjects: {
      booking: (clinic) => `Bekreft timen hos ${clinic}`,
      cancellation: (clinic) => `Avbestilling av time hos ${clinic}`,
    },
    email: (purpose, { clinic, code, minutes, url }) => [
      'Hei!',
      `Bruk denne koden for å ${purpose}:`,
      code,
      ...(url === null ? [] : [`Skriv koden på denne siden:\n${url}`]),
      `Koden er gyldig i ${plural(minutes, 'minutt', 'minutter')}. Har du ikke bedt om den, kan du se bort fra denne e-posten.`,
      `Vennlig hilsen\n${clinic}`,
    ],
    link: (url) => ` Skriv koden her: ${url}`,
    date: ({ weekday, day, month, year, hour, minute }) =>
      `${nb.weekdays[weekday - 1]} ${day}. ${nb.months[month - 1]} ${year} kl. ${hour}.${minute}`,
  },
  sv: {
    booking: ({ when, count }) =>
      count === 1 ? `bekräfta tiden ${when}` : `bekräfta ${count} tider, den första ${when}`,
    cancellation: ({ when, count }) =>
      count === 1 ? `avboka tiden ${when}` : `avboka ${count} tider, den första ${when}`,
    sms: (purpose, { clinic, code, minutes }) =>
      `${clinic}: Använd koden ${code} för att ${purpose}. Giltig i ${plural(minutes, 'minut', 'minuter')}.`,
    shortSms: ({ clinic, code, when, minutes }) => `${clinic}: kod ${code}, ${when}, ${minutes} min`,
    subjects: {
      booking: (clinic) => `Bekräfta din tid hos ${clinic}`,
      cancellation: (clinic) => `Avbokning av tid hos ${clinic}`,
    },
    email: (purpose, { clinic, code, minutes, url }) => [
      'Hej!',
      `Använd den här koden för att ${purpose}:`,
      code,
      ...(url === null ? [] : [`Skriv koden på den här sidan:\n${url}`]),
      `Koden är giltig i ${plural(minutes, 'minut', 'minuter')}. Har du inte bett om den kan du bortse från det här mejlet.`,
      `Vänliga hälsningar\n${clinic}`,
    ],
    link: (url) => ` Skriv koden här: ${url}`,
    date: ({ weekday, day, month, year, hour, minute }) =>
      `${sv.weekdays[weekday - 1]} ${day} ${sv.months[month - 1]} ${year} kl. ${hour}:${minute}`,
  },
  en: {
    booking: ({ when, count }) =>
      count === 1 ? `confirm your appointment on ${when}` : `confirm ${count} appointments, the first on ${when}`,
    cancellation: ({ when, count }) =>
      count === 1 ? `cancel your appointment on ${when}` : `cancel ${count} appointments, the first on ${when}`,
    sms: (purpose, { clinic, code, minutes }) =>
      `${clinic}: Use the code ${code} to ${purpose}. Valid for ${plural(minutes, 'minute', 'minutes')}.`,
    shortSms: ({ clinic, code, when, minutes }) => `${clinic}: code ${code}, ${when}, ${minutes} min`,
    subjects: {
      booking: (clinic) => `Confirm your appointment at ${clinic}`,
      cancellation: (clinic) => `Cancel your appointment at ${clinic}`,
    },
    email: (purpose, { clinic, code, minutes, url }) => [
      'Hello,',
      `Use this code to ${purpose}:`,
      code,
      ...(url === null ? [] : [`Enter the code on this page:\n${url}`]),
      `The code is valid for ${plural(minutes, 'minute', 'minutes')}. If you did not ask for it, you can ignore this e-mail.`,
      `Kind regards\n${clinic}`,
    ],
    link: (url) => ` Enter the code here: ${url}`,
    date: ({ weekday, day, month, year, hour, minute }) =>
      `${en.weekdays[weekday - 1]} ${day} ${en.months[month - 1]} ${year} at ${hour}:${minute}`,
  },
};

// Not from Intl: it uses spaces outside the GSM alphabet, and its output changes with its data.
const nb = {
  weekdays: ['man.', 'tir.', 'ons.', 'tor.', 'fre.', 'lør.', 'søn.'],
  months: ['jan.', 'feb.', 'mars', 'april', 'mai', 'juni', 'juli', 'aug.', 'sep.', 'okt.', 'nov.', 'des.'],
};
const sv = {
  weekdays: ['mån', 'tis', 'ons', 'tors', 'fre', 'lör', 'sön'],
  months: ['jan', 'feb', 'mars', 'april', 'maj', 'juni', 'juli', 'aug', 'sep', 'okt', 'nov', 'dec'],
};
const en = {
  weekdays: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
  months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
};

/**
 * 3GPP TS 23.040: 140 octets hold 160 septets of the GSM alphabet or 70 characters of UCS-2. Each of two parts has a header
 * of 6 octets (section 9.2.3.24.1).
 */
const longestGsm = 160;
const longestUcs2 = 70;
const longestGsmInTwo = 306;
const longestUcs2InTwo = 134;
/** RFC 5322 section 2.1.1: lines of at most 78 characters, including the rest of the subject. */
const longestInSubject = 48;

/** Composes the text for a patient. `secondsLeft` is the remaining lifetime of the code. */
export function compose(
  channel: Channel,
  content: Omit<Content, 'to'>,
  secondsLeft: number,
): { text: string; subject?: string } {
  const wording = wordings[content.language];
  const parts: Parts = {
    clinic: oneLine(content.clinicName),
    code: content.code,
    when: wording.date(localDay(content.firstStart, content.timeZone)),
    count: content.count,
    minutes: wholeMinutes(secondsLeft),
    url: content.pageUrl,
  };
  const purpose = wording[content.kind](parts);
  if (channel === 'sms') return { text: composeSms(wording, purpose, parts) };
  return {
    subject: wording.subjects[content.kind](shortened(parts.clinic, longestInSubject, (text) => text.length)),
    text: `${wording.email(purpose, parts).join('\n\n')}\n`,
  };
}

/** Fits into one SMS, or into two with a link. */
function composeSms(wording: Wording, purpose: string, parts: Parts): string {
  const link = parts.url === null ? '' : wording.link(parts.url);
  const clinic = toGsm(parts.clinic);
  if (clinic) {
    const withClinic = (clinic: string) => `${wording.sms(purpose, { ...parts, clinic })}${link}`;
    const room = (link ? longestGsmInTwo : longestGsm) - gsmSeptets(withClinic(''));
    return withClinic(shortened(clinic, room, gsmSeptets));
  }
  const withClinic = (clinic: string) =>
    `${wording.shortSms({ ...parts, clinic })}${parts.url === null ? '' : ` ${parts.url}`}`;
  const room = (link ? longestUcs2InTwo : longestUcs2) - withClinic('').length;
  return withClinic(shortened(parts.clinic, room, (text) => text.length));
}

/** Shortens the text to at most `room`, without splitting a character. */
function shortened(text: string, room: number, measure: (text: string) => number): string {
  if (measure(text) <= room) return text;
  const dots = '...';
  let kept = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (measure(kept + segment) > room - measure(dots)) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${dots}`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
}

/** Rounds down, but ignores the few seconds since the message was queued. */
function wholeMinutes(seconds: number): number {
  return Math.max(1, Math.floor((seconds + 10) / 60));
}

function localDay(date: Date, timeZone: string): Day {
  const local = Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(timeZone);
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return {
    weekday: local.dayOfWeek,
    day: local.day,
    month: local.month,
    year: local.year,
    hour: twoDigits(local.hour),
    minute: twoDigits(local.minute),
  };
}
