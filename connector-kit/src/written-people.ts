import { emailIn } from './email-addresses.ts';
import { tidyName } from './names.ts';
import { type PatientPhones, patientPhones } from './phone-numbers.ts';
import { type Address, genders, type Patient } from './records.ts';

/*
 * People as FHIR has them, in any version: https://hl7.org/fhir/R4/datatypes.html. Records are as staff and programs wrote them,
 * so nothing is taken for granted: any element may be missing, null, or of another type.
 */

/** A period, with or without its bounds. */
export interface WrittenPeriod {
  readonly start?: unknown;
  readonly end?: unknown;
}

/** A HumanName. */
export interface WrittenName {
  readonly use?: unknown;
  readonly text?: unknown;
  readonly family?: unknown;
  readonly given?: unknown;
  readonly period?: WrittenPeriod | null | undefined;
}

/** A ContactPoint. */
export interface WrittenContact {
  readonly system?: unknown;
  readonly value?: unknown;
  readonly use?: unknown;
  readonly rank?: unknown;
  readonly period?: WrittenPeriod | null | undefined;
}

/** A Patient. */
export interface WrittenPatient {
  readonly name?: unknown;
  readonly birthDate?: unknown;
  readonly gender?: unknown;
  readonly telecom?: unknown;
  readonly address?: unknown;
}

/** Whether a period includes a moment. A missing bound is open, and so is one that is no date. */
export function isCurrent(period: WrittenPeriod | null | undefined, now: Date): boolean {
  const { start, end } = period ?? {};
  if (typeof start === 'string' && boundOf(start, '00:00:00') > now) return false;
  // A bare date as an end includes the whole day: https://hl7.org/fhir/R4/datatypes.html#Period
  return typeof end !== 'string' || !(boundOf(end, '23:59:59') < now);
}

/** A text that names no place is read in UTC, so that it means the same wherever this process runs. */
function boundOf(text: string, timeOfDay: string): Date {
  const moment = text.length === 10 ? `${text}T${timeOfDay}` : text;
  return new Date(/T[^Z+-]*$/.test(moment) ? `${moment}Z` : moment);
}

/** What a Patient says of the person. @param country as `contactsOfPatient` takes it */
export function personIn(record: WrittenPatient, now: Date, country?: string) {
  const { name, birthDate, gender, telecom, address } = record;
  return {
    ...nameOfPatient(name, now),
    // A FHIR date may also be a year or a month.
    birthDate: typeof birthDate === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(birthDate) ? birthDate : null,
    gender: genders.find((it) => it === gender) ?? null,
    ...contactsOfPatient(telecom, now, country),
    address: addressIn(address, now),
  };
}

/** The address at home before others, of those in use. `null`: there is none, or nothing in it. */
function addressIn(addresses: unknown, now: Date): Address | null {
  const usable = list<Partial<Record<string, unknown>> & { readonly period?: WrittenPeriod }>(addresses).filter(
    ({ use, period }) => use !== 'old' && use !== 'billing' && isCurrent(period, now),
  );
  const best = usable.find(({ use }) => use === 'home') ?? usable[0];
  const written = best && [best.line].flat().map(tidyName).filter(Boolean);
  const [text, postalCode, city, country] = ['text', 'postalCode', 'city', 'country'].map((it) => tidyName(best?.[it]));
  const lines = written?.length ? written : text ? [text] : [];
  if (lines.length === 0 && !postalCode && !city) return null;
  const code = country?.toUpperCase() ?? '';
  return { lines, postalCode: postalCode || null, city: city || null, country: /^[A-Z]{2}$/.test(code) ? code : null };
}

interface NameParts {
  readonly text: string;
  readonly family: string;
  readonly given: string;
}

/**
 * The names of a person, the best first: one that is in use before a former one, one that has parts before one that is only a
 * text, then by `use`.
 */
function namesOf(names: unknown, now: Date): readonly NameParts[] {
  const read = list<WrittenName>(names).map((name) => {
    const family = tidyName(name.family);
    const given = [name.given].flat().map(tidyName).filter(Boolean).join(' ');
    const isFormer = name.use === 'old' || name.use === 'maiden' || !isCurrent(name.period, now);
    const places = [isFormer ? 1 : 0, family || given ? 0 : 1, placeIn(nameUses, name.use)];
    return { text: tidyName(name.text), family, given, places };
  });
  return read.filter((it) => it.text || it.family || it.given).toSorted((a, b) => byPlaces(a.places, b.places));
}

/** Of a name that is only a text, the whole text is the family name: which words are the family's, nobody can tell. */
export function nameOfPatient(names: unknown, now: Date): Pick<Patient, 'givenName' | 'familyName'> {
  const [name] = namesOf(names, now);
  if (!name) return { givenName: null, familyName: null };
  const hasParts = name.family !== '' || name.given !== '';
  return { givenName: name.given || null, familyName: (hasParts ? name.family : name.text) || null };
}

/** The whole name in one text. `undefined`: there is none. */
export function wholeName(names: unknown, now: Date): string | undefined {
  const [name] = namesOf(names, now);
  return name && (name.text || [name.given, name.family].filter(Boolean).join(' '));
}

/**
 * How a patient can be reached: the contact points that are in use, a mobile number before the one at home and that before one at
 * work, then by `rank`.
 *
 * @param country where all patients of the EHR live, if that is known: ISO 3166-1 alpha-2
 */
export function contactsOfPatient(
  contacts: unknown,
  now: Date,
  country?: string,
): PatientPhones & Pick<Patient, 'email'> {
  const usable = list<WrittenContact>(contacts)
    .filter((it) => it.use !== 'old' && isCurrent(it.period, now))
    .map((it) => ({ ...it, places: [placeIn(contactUses, it.use), typeof it.rank === 'number' ? it.rank : 99] }))
    .toSorted((a, b) => byPlaces(a.places, b.places));
  const valuesOf = (systems: readonly unknown[], scheme: RegExp) =>
    usable.flatMap(({ system, value }) =>
      typeof value === 'string' && (systems.includes(system) || scheme.test(value)) ? [value] : [],
    );
  const phones = valuesOf(['phone', 'sms', undefined, null], /^\s*(?:tel|sms):/i);
  const emails = valuesOf(['email', undefined, null], /^\s*mailto:/i);
  return {
    ...patientPhones(
      phones.filter((it) => !it.includes('@')),
      country,
    ),
    email: emails.map(emailIn).find((it) => it !== null) ?? null,
  };
}

const nameUses = ['official', 'usual', undefined, 'nickname', 'temp', 'anonymous'];
const contactUses = ['mobile', 'home', undefined, 'work', 'temp'];

function placeIn(order: readonly unknown[], use: unknown): number {
  const place = order.indexOf(use ?? undefined);
  return place === -1 ? order.length : place;
}

function byPlaces(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((it, index) => it !== b[index]);
  return differing === -1 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}

/** The objects in what should be a list of them. One that is sent alone counts as a list. */
function list<Item extends object>(value: unknown): Item[] {
  return [value].flat().filter((it): it is Item => typeof it === 'object' && it !== null);
}
