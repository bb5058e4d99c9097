import { isSupportedCountry } from 'libphonenumber-js';
import { isConfigurable } from '../../identifiers/referable-headers.ts';
import type { EnvironmentVariables } from '../environment/environment.ts';
import { isReference, minimumSecretLength, variable } from '../environment/references.ts';
import { isMapping, type Mistake, type Path, quoted } from '../mistakes/mistake.ts';
import { nearest } from '../mistakes/nearest.ts';
import { parseRange } from './address-ranges.ts';
import { keyMistakes, nameMistakes } from './client-keys.ts';
import { guessableCodes } from './code-rules.ts';
import { consoleMistakes } from './console-rules.ts';
import { identifierTypeMistakes } from './identifier-type-rules.ts';
import type { PartialFile } from './partial-file.ts';
import { patientPageMistakes } from './patient-page-rules.ts';
import { plainTextMistakes } from './plain-text.ts';
import { notInFile, unknownGrants } from './unknown-grants.ts';
import { webhookMistakes } from './webhook-rules.ts';

/** Checks that a schema cannot express, such as unique ids, known ids, time zones and message channels. */
export function ruleMistakes(file: PartialFile): Mistake[] {
  const emrs = file.emrs ?? [];
  return [
    ...repeated(emrs, ['emrs'], 'id'),
    ...emrs.flatMap((emr, index) => repeated(emr?.care_units ?? [], ['emrs', index, 'care_units'], 'id')),
    ...unknownTimeZones(file),
    ...unknownCountries(file),
    ...repeated(file.clients ?? [], ['clients'], 'id'),
    ...repeated(file.services ?? [], ['services'], 'code'),
    ...(file.clients ?? []).flatMap((client, index) => nameMistakes(client?.name, ['clients', index, 'name'])),
    ...credentialMistakes(file),
    ...mistakenGrants(file),
    ...missingChannels(file),
    ...guessableCodes(file),
    ...plainTextMistakes(file),
    ...repeated(file.identifier_types ?? [], ['identifier_types'], 'id'),
    ...identifierTypeMistakes(file),
    ...ignoredCheckDigits(file),
    ...reservedHeaders(file),
    ...invalidProxies(file),
    ...patientPageMistakes(file),
    ...consoleMistakes(file),
    ...webhookMistakes(file),
  ];
}

/** Countries whose phone numbers have no known form. */
function unknownCountries({ emrs = [] }: PartialFile): Mistake[] {
  const at = (path: Path, country: unknown): Mistake[] => {
    if (typeof country !== 'string' || !/^[A-Z]{2}$/.test(country) || isSupportedCountry(country)) return [];
    return [
      {
        path: [...path, 'default_country'],
        at: 'value',
        text: `${quoted(country)} is not a country with phone numbers`,
      },
    ];
  };
  return emrs.flatMap((emr, index) => [
    ...at(['emrs', index], emr?.default_country),
    ...(emr?.care_units ?? []).flatMap((careUnit, place) =>
      at(['emrs', index, 'care_units', place], careUnit?.default_country),
    ),
  ]);
}

/** Whoever ignores check digits says that all numbers are invented: those of real people would be recognised nowhere. */
function ignoredCheckDigits({ emrs = [] }: PartialFile): Mistake[] {
  return emrs.flatMap((emr, index): Mistake[] => {
    if (emr?.check_digits !== 'ignore' || emr.synthetic_identifiers) return [];
    return [{ path: ['emrs', index, 'check_digits'], at: 'value', text: 'needs synthetic_identifiers: true' }];
  });
}

/** Variables in the file that are not set or contain a client secret that is too short. */
export function secretMistakes(file: PartialFile, variables: EnvironmentVariables): Mistake[] {
  return [...unsetVariables(file, [], variables), ...shortSecrets(file, variables)];
}

function repeated<Key extends string>(
  items: readonly ({ readonly [key in Key]?: string | undefined } | undefined)[],
  path: Path,
  key: Key,
): Mistake[] {
  const firsts = new Map<string, number>();
  return items.flatMap((item, index) => {
    const value = item?.[key];
    if (value === undefined) return [];
    const first = firsts.get(value);
    if (first === undefined) {
      firsts.set(value, index);
      return [];
    }
    const text = `${quoted(value)} is already the ${key} of ${path.at(-1)}[${first}]; each must be unique`;
    return [{ path: [...path, index, key], at: 'value', text }];
  });
}

function unknownTimeZones({ emrs = [], console }: PartialFile): Mistake[] {
  const careUnits = emrs.flatMap((emr, emrIndex) =>
    (emr?.care_units ?? []).flatMap((careUnit, index) =>
      unknownTimeZone(careUnit?.time_zone, ['emrs', emrIndex, 'care_units', index, 'time_zone']),
    ),
  );
  return [...careUnits, ...unknownTimeZone(console?.time_zone, ['console', 'time_zone'])];
}

function unknownTimeZone(zone: string | undefined, path: Path): Mistake[] {
  if (zone === undefined || zone === '' || isTimeZone(zone)) return [];
  const suggestion = nearest(zone, Intl.supportedValuesOf('timeZone'));
  const text = `${quoted(zone)} is not an IANA time zone${
    suggestion === undefined ? ', such as Europe/Oslo' : `; did you mean "${suggestion}"?`
  }`;
  return [{ path, at: 'value', text }];
}

/** Time zones that have been looked up: most care units have the same, and a look-up takes long. */
const timeZones = new Set<string>();

function isTimeZone(name: string): boolean {
  if (timeZones.has(name)) return true;
  // Intl also accepts offsets such as +01:00, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    timeZones.add(name);
    return true;
  } catch {
    return false;
  }
}

function reservedHeaders({ identifier_headers: names = [], emrs = [] }: PartialFile): Mistake[] {
  const reserved = (name: string | undefined, path: Path, what: string): Mistake[] => {
    if (name === undefined || isConfigurable(name.toLowerCase())) return [];
    return [{ path, at: 'value', text: `${quoted(name)} is reserved and cannot contain ${what}` }];
  };
  return [
    ...names.flatMap((name, index) => reserved(name, ['identifier_headers', index], 'an identifier')),
    ...emrs.flatMap((emr, index) =>
      reserved(emr?.connection?.user_header, ['emrs', index, 'connection', 'user_header'], 'a user'),
    ),
  ];
}

function credentialMistakes({ clients = [], webhooks }: PartialFile): Mistake[] {
  return clients.flatMap((client, index): Mistake[] => {
    if (client === undefined) return [];
    const path: Path = ['clients', index];
    const mistakes = keyMistakes(client, path, webhooks?.allow_http ?? false);
    if ('secrets' in client || 'jwks' in client || 'jwks_uri' in client) return mistakes;
    return [...mistakes, { path, at: 'value', text: 'needs secrets, jwks or jwks_uri' }];
  });
}

function mistakenGrants({ emrs = [], clients = [] }: PartialFile): Mistake[] {
  return clients.flatMap((client, clientIndex) => {
    const grants = client?.grants ?? [];
    const path: Path = ['clients', clientIndex, 'grants'];
    return [...repeated(grants, path, 'emr'), ...unknownGrants(grants, emrs, path, notInFile)];
  });
}

function missingChannels(file: PartialFile): Mistake[] {
  const { messages = {} } = file;
  if ('messages' in file && file.messages === undefined) return [];
  const sms = 'sms' in messages;
  const email = 'email' in messages;
  const found = new Map<string, Mistake>();
  const note = (path: Path, text: string) => found.set(path.join('/'), { path, at: 'value', text });

  file.emrs?.forEach((emr, emrIndex) => {
    emr?.care_units?.forEach((careUnit, index) => {
      const placeOf = (key: 'booking_confirmation' | 'cancellation_confirmation'): Path | undefined => {
        const own = careUnit?.policies?.[key];
        if ((own ?? emr.policies?.[key]) !== 'code') return undefined;
        const holder = own === undefined ? ['emrs', emrIndex] : ['emrs', emrIndex, 'care_units', index];
        return [...holder, 'policies', key];
      };
      const booking = placeOf('booking_confirmation');
      if (booking && !sms && !email) {
        note(booking, 'requires a message channel: set messages.sms or messages.email');
      }
      const cancellation = placeOf('cancellation_confirmation');
      const byEmail =
        careUnit?.policies?.cancellation_code_by_email ?? emr.policies?.cancellation_code_by_email ?? false;
      if (cancellation && !sms && !(byEmail && email)) {
        note(
          cancellation,
          'requires a message channel: set messages.sms, or messages.email with cancellation_code_by_email: true',
        );
      }
    });
  });
  return [...found.values()];
}

function invalidProxies({ http }: PartialFile): Mistake[] {
  return (http?.trusted_proxies ?? []).flatMap((range, index): Mistake[] => {
    if (range === undefined || range === '' || parseRange(range)) return [];
    const text = `${quoted(range)} is not an IP address or a range such as 10.0.0.0/8`;
    return [{ path: ['http', 'trusted_proxies', index], at: 'value', text }];
  });
}

/** Variables that are not set, in the part of the file at this path. */
export function unsetVariables(value: unknown, path: Path, variables: EnvironmentVariables): Mistake[] {
  if (isReference(value)) {
    const secret = variable(value, variables);
    if (secret) return [];
    const state = secret === undefined ? 'is not set' : 'is empty';
    return [{ path: [...path, 'env'], at: 'value', text: `the environment variable ${value.env} ${state}` }];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => unsetVariables(item, [...path, index], variables));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => unsetVariables(item, [...path, key], variables));
}

function shortSecrets({ clients = [] }: PartialFile, variables: EnvironmentVariables): Mistake[] {
  return clients.flatMap((client, clientIndex) =>
    (client?.secrets ?? []).flatMap((secret, index): Mistake[] => {
      const value = isReference(secret) ? variable(secret, variables) : undefined;
      if (!value || value.length >= minimumSecretLength) return [];
      const text = `the secret in this environment variable has fewer than ${minimumSecretLength} characters; generate one with: openssl rand -base64 32`;
      return [{ path: ['clients', clientIndex, 'secrets', index, 'env'], at: 'value', text }];
    }),
  );
}
