import type { Patient } from '@crossward/connector-kit';
import parsePhoneNumber, { type CountryCode } from 'libphonenumber-js';
import type { CareUnitConnection } from './connection.ts';

/**
 * The patient's phone number in E.164. One without a country code gets that of the care unit's default country. `null`: there
 * is none, it is not valid in that country, or the care unit has no default country.
 */
export function phoneOf(
  { phone, nationalPhone }: Pick<Patient, 'phone' | 'nationalPhone'>,
  { defaultCountry }: Pick<CareUnitConnection, 'defaultCountry'>,
): string | null {
  if (phone !== null || nationalPhone === undefined || defaultCountry === undefined) return phone;
  const parsed = parsePhoneNumber(nationalPhone, { defaultCountry: defaultCountry as CountryCode, extract: false });
  return parsed?.isValid() ? parsed.number : null;
}
