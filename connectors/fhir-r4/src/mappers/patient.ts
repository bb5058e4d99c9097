import { type Address, type Gender, genders, type Patient, type PatientIdentifierType } from '@crossward/connector-kit';
import { type ContactPoint, type FhirAddress, type FhirPatient, isCurrent } from '../fhir.ts';
import { type IdentifierSystems, knownNumbers, type NumberType } from '../identifiers.ts';
import { bestName } from './name.ts';

/** Maps a Patient to what the gateway shows: https://hl7.org/fhir/R4/patient.html */
export function toPatient(
  resource: FhirPatient,
  systems: IdentifierSystems,
  types: readonly PatientIdentifierType[],
  now: Date,
): Patient {
  const id = resource.id ?? '';
  const name = bestName(resource.name, now);
  const numbers = types.filter(
    (type): type is Exclude<PatientIdentifierType, 'emr_id'> & NumberType => type !== 'emr_id',
  );
  return {
    id,
    identifiers: [{ type: 'emr_id', value: id }, ...knownNumbers(systems, numbers, resource.identifier)],
    givenName: name?.given?.join(' ') || null,
    familyName: name?.family ?? null,
    // A FHIR date may also be a year or a month.
    birthDate: /^\d{4}-\d{2}-\d{2}$/.test(resource.birthDate ?? '') ? (resource.birthDate ?? null) : null,
    gender: genders.includes(resource.gender as Gender) ? (resource.gender as Gender) : null,
    ...phoneIn(contact(resource.telecom, ['sms', 'phone'], now)),
    email: contact(resource.telecom, ['email'], now)?.trim() ?? null,
    address: address(resource.address, now),
  };
}

const contactUses = ['mobile', 'home', undefined, 'work', 'temp'];

/**
 * The best current contact point: a mobile number before others, then by `rank`.
 * https://hl7.org/fhir/R4/datatypes.html#ContactPoint
 */
function contact(points: readonly ContactPoint[] = [], systems: readonly string[], now: Date): string | undefined {
  const usable = points.filter(
    (it) => it.value?.trim() && systems.includes(it.system ?? '') && it.use !== 'old' && isCurrent(it.period, now),
  );
  const place = ({ use }: ContactPoint) => {
    const index = contactUses.indexOf(use);
    return index === -1 ? contactUses.length : index;
  };
  return usable.toSorted((a, b) => place(a) - place(b) || (a.rank ?? 99) - (b.rank ?? 99))[0]?.value;
}

function phoneIn(value = ''): Pick<Patient, 'phone' | 'nationalPhone'> {
  const digits = value
    .replace(/^tel:/i, '')
    .replace(/[\s().-]/g, '')
    .replace(/^00/, '+');
  if (/^\+[1-9]\d{4,14}$/.test(digits)) return { phone: digits };
  return { phone: null, ...(/^\d{4,14}$/.test(digits) ? { nationalPhone: digits } : {}) };
}

function address(addresses: readonly FhirAddress[] = [], now: Date): Address | null {
  const usable = addresses.filter((it) => it.use !== 'old' && it.use !== 'billing' && isCurrent(it.period, now));
  const best = usable.find(({ use }) => use === 'home') ?? usable[0];
  if (!best) return null;
  const country = best.country?.trim().toUpperCase();
  return {
    lines: best.line ?? (best.text ? [best.text] : []),
    postalCode: best.postalCode ?? null,
    city: best.city ?? null,
    country: country !== undefined && /^[A-Z]{2}$/.test(country) ? country : null,
  };
}
