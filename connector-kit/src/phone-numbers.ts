import parsePhoneNumber, { type CountryCode, type PhoneNumber } from 'libphonenumber-js';
import type { Patient } from './records.ts';

/** Phone numbers as records of patients have them. */
export type PatientPhones = Pick<Patient, 'phone' | 'nationalPhone' | 'phones'>;

/**
 * What texts of an EHR hold as phone numbers of a patient, the best text first.
 *
 * @param country where all patients of the EHR live, if that is known: ISO 3166-1 alpha-2
 */
export function patientPhones(texts: readonly unknown[], country?: string): PatientPhones {
  const read = texts.flatMap((it) => (typeof it === 'string' ? phoneNumbersIn(it) : []));
  const found = country === undefined ? read : read.flatMap((it) => inCountry(it, country));
  const phones = [...new Set(found)];
  const phone = phones.find((it) => it.startsWith('+')) ?? null;
  const [first] = phones;
  return {
    phone,
    ...(phone === null && first !== undefined ? { nationalPhone: first } : {}),
    // Whether the first one can be reached, only the gateway knows.
    ...(phones.length > 1 && phone !== first ? { phones } : {}),
  };
}

/** Possible, not valid: the numbers of test people are only possible. */
function inCountry(number: string, country: string): readonly string[] {
  const known = parsePhoneNumber(number, { defaultCountry: country as CountryCode, extract: false });
  return known?.isPossible() ? [known.number] : [];
}

/**
 * The phone numbers in a text that somebody wrote, in its order: E.164 if it has a country code and is possible there, otherwise
 * its digits. Reads a `tel:` URI, the trunk zero in `+46 (0)70`, extensions (left out, because no SMS reaches them), words before
 * and behind, and several numbers in one text.
 */
export function phoneNumbersIn(text: string): readonly string[] {
  return withoutOtherDigits(plain(text.slice(0, longestText)))
    .split(/[^+\d\s().\-/]+/)
    .flatMap((piece) => piece.split(/(?=\+)/))
    .flatMap(numbersIn);
}

const longestText = 300;

/**
 * The number in E.164, if it can exist. A number with a country code is only compared with the lengths of numbers there: those
 * of test people and of new ranges must work.
 *
 * @param number E.164, or digits without a country code
 * @param country of digits without a country code. Without it they count as none.
 */
export function reachableNumber(number: string, country?: string): string | undefined {
  if (number.startsWith('+')) {
    const parsed = parsePhoneNumber(number, { extract: false });
    return parsed?.isPossible() ? parsed.number : undefined;
  }
  if (country === undefined) return undefined;
  const parsed = parsePhoneNumber(number, { defaultCountry: country as CountryCode, extract: false });
  return parsed?.isValid() ? parsed.number : undefined;
}

/**
 * The usual spellings of a number, for an EHR that keeps numbers as people wrote them and compares text: the most usual ones first.
 *
 * @param phone E.164
 */
export function spellingsOfPhone(phone: string): readonly string[] {
  const parsed = parsePhoneNumber(phone, { extract: false });
  if (!parsed) return [phone];
  const { countryCallingCode: code, nationalNumber: digits } = parsed;
  const national = parsed.formatNational();
  const trunk = national.startsWith('0') && !digits.startsWith('0') ? '0' : '';
  // Of eight digits, as in Norway and Denmark, there are two usual groupings.
  const eight = /^\d{8}$/.test(digits)
    ? [digits.replace(/(..)(..)(..)/, '$1 $2 $3 '), digits.replace(/(...)(..)/, '$1 $2 ')]
    : [];
  const international = parsed.formatInternational().slice(`+${code} `.length);
  const grouped = [national.slice(trunk.length), international, ...eight].flatMap(separated);
  const bodies = [digits, ...grouped];
  return [
    ...new Set([
      phone,
      ...bodies.map((it) => `${trunk}${it}`),
      ...bodies.map((it) => `+${code} ${it}`),
      ...(trunk === '' ? [] : bodies.map((it) => `+${code} (0)${it}`)),
      ...(trunk === '' ? [] : [`+${code}(0)${digits}`]),
      `00${code}${digits}`,
      `00${code} ${international}`,
      `tel:${phone}`,
    ]),
  ];
}

/** A number in groups: with its own separators, with spaces, with hyphens, and with one behind the first group. */
function separated(groups: string): readonly string[] {
  const [first = '', ...rest] = groups.split(/[\s-]+/);
  return [
    groups,
    [first, ...rest].join(' '),
    [first, ...rest].join('-'),
    ...(rest.length > 0 ? [`${first}-${rest.join(' ')}`, `${first}-${rest.join('')}`] : []),
  ];
}

/**
 * Whether a patient may have a phone number. One that the EHR has without a country code counts as one of the country of the
 * number: the gateway compares again, because it knows the care unit's country.
 *
 * @param phone E.164
 */
export function mayHavePhone({ phone: best, nationalPhone, phones }: PatientPhones, phone: string): boolean {
  const defaultCallingCode = parsePhoneNumber(phone, { extract: false })?.countryCallingCode;
  return (phones ?? [best ?? nationalPhone ?? '']).some((it) => {
    if (it === phone || it.startsWith('+') || defaultCallingCode === undefined) return it === phone;
    return parsePhoneNumber(it, { defaultCallingCode, extract: false })?.number === phone;
  });
}

/** One kind of space, hyphen and digit, and no scheme of a URI. RFC 3966 has parameters behind the number. */
function plain(text: string): string {
  const uri = /^\s*(?:tel|sms|callto):\s*(.*)$/is.exec(text)?.[1];
  return (uri === undefined ? text : decoded(uri))
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/\p{Pd}|\u2212/gu, '-')
    .replaceAll(/[\r\n]+/g, ' | ')
    .replaceAll(/;[a-z-]+=[^;]*/gi, ' | ');
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

const extensions = [
  /(?<!\p{L})(?:ext(?:ension|n)?|ekst|xt|anknytning|anknyt|ankn|internnr|intern|int|linje|lokal|durchwahl|dw|poste|alanumero)[\s.:=]*\d{1,7}(?!\d)/giu,
  /(?<=\d[\s,;.()-]{0,4})[x#][\s.:=]*\d{1,7}(?!\d)/gi,
];
const dates = /(?<![\d.+-])(?:(?:19|20)\d\d-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d)(?![\d.-])/g;
const hours = /(?<![\d.+])(?:[01]?\d|2[0-3])[.:][0-5]\d\s*-\s*(?:[01]?\d|2[0-3])[.:][0-5]\d(?![\d.])/g;

function withoutOtherDigits(text: string): string {
  return [...extensions, dates, hours].reduce((rest, pattern) => rest.replaceAll(pattern, ' | '), text);
}

/** The numbers in a text of digits and separators: one, unless it has more digits than one can have. */
function numbersIn(text: string): readonly string[] {
  const [first = '', ...others] = text.split('/');
  // `22 00 00 01/90 00 00 01` is two numbers, `030/1234567` is one, and `22000001/02` one with the end of another.
  const isSeveral = others.length > 0 && hasNumber(first, 7) && !(hasNumber(others.join(''), 3) && isValid(text));
  if (isSeveral) return [first, ...others].flatMap(numbersIn);
  const whole = numberIn(text);
  if (whole !== undefined) return [whole];
  const parts = [/\s+-\s+/, /\s+/].map((separator) => text.trim().split(separator));
  const found = parts.find((it) => it.length > 1 && it.every((part) => hasNumber(part)));
  return found?.flatMap(numbersIn) ?? numbersFromStart(text);
}

/** The longest start of the text that is a valid number with its country code, and what is in the rest. */
function numbersFromStart(text: string): readonly string[] {
  const groups = text.trim().split(/(?<=\d)(?=\s)/);
  for (let count = groups.length - 1; count > 0; count--) {
    const start = groups.slice(0, count).join('');
    if (isValid(start)) return [numberIn(start) ?? [], numbersIn(groups.slice(count).join(''))].flat();
  }
  return [];
}

function numberIn(text: string): string | undefined {
  if (hasCountryCode(text)) return parsed(text)?.number;
  const digits = digitsOf(text);
  return digits.length >= shortest && digits.length <= longestDomestic ? digits : undefined;
}

function isValid(text: string): boolean {
  return hasCountryCode(text) && parsed(text)?.isValid() === true;
}

function hasCountryCode(text: string): boolean {
  return /^\s*\(?\s*(?:\+|00)/.test(text);
}

/** A zero in brackets is not dialled after the country code, except where it is part of the number, as in Italy. */
function parsed(text: string): PhoneNumber | undefined {
  const forms = [text.replace(/\(\s*0\s*\)/, ''), text].map((it) => `+${digitsOf(it).replace(/^00/, '')}`);
  const possible = forms
    .flatMap((it) => parsePhoneNumber(it, { extract: false }) ?? [])
    .filter((it) => it.isPossible());
  return possible.find((it) => it.isValid()) ?? possible[0];
}

/** No domestic number that an SMS reaches has fewer digits. */
const shortest = 5;
const longestDomestic = 13;

function hasNumber(text: string, digits = shortest): boolean {
  return digitsOf(text).length >= digits;
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '');
}
