/**
 * Checks a Swedish HSA-id and returns it in upper case, or `undefined`: `SE`, the ten digits of an organisation number,
 * `-`, and 1 to 18 letters (A to Z) or digits; at most 31 characters. Case-insensitive, without a check digit. Source:
 * Inera, HSA innehåll, attribute hsaIdentity.
 */
export function normaliseHsaId(text: string): string | undefined {
  return /^[Ss][Ee][0-9]{10}-[0-9A-Za-z]{1,18}$/.test(text) ? text.toUpperCase() : undefined;
}
