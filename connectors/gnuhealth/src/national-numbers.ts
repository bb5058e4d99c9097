import type { GnuHealthSettings } from './settings.ts';

type NumberType = NonNullable<GnuHealthSettings['national_number']>;

const digits: Readonly<Record<NumberType, number>> = {
  no_personal_number: 11,
  se_personal_number: 12,
  nhs_number: 10,
};

/** Where staff put a space or a hyphen, if they do. */
const groups: Readonly<Record<NumberType, RegExp>> = {
  no_personal_number: /^(.{6})(.{5})$/,
  se_personal_number: /^(.{8})(.{4})$/,
  nhs_number: /^(.{3})(.{3})(.{4})$/,
};

/** The number in a field that people fill in. `undefined`: it holds something else. */
export function numberIn(type: NumberType, text: string | null): string | undefined {
  const bare = (text ?? '').replaceAll(/[\s-]/g, '');
  return /^\d+$/.test(bare) && bare.length === digits[type] ? bare : undefined;
}

/** The forms in which staff may have entered a number. */
export function formsOf(type: NumberType, value: string): readonly string[] {
  const parts = groups[type].exec(value)?.slice(1) ?? [value];
  return [value, parts.join(' '), parts.join('-')];
}
