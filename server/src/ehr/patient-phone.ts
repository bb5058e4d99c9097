import { type PatientPhones, reachableNumber } from '@crossward/connector-kit';
import type { CareUnitConnection } from './connection.ts';

/**
 * The first of the patient's phone numbers that can be reached, in E.164. One without a country code gets that of the care unit's
 * default country. `null`: there is none.
 */
export function phoneOf(
  { phone, nationalPhone, phones = [phone ?? nationalPhone ?? ''] }: PatientPhones,
  { defaultCountry }: Pick<CareUnitConnection, 'defaultCountry'>,
): string | null {
  return phones.map((it) => reachableNumber(it, defaultCountry)).find((it) => it !== undefined) ?? null;
}
