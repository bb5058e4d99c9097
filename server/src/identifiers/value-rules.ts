import { type IdentifierType, identifierType, normalForm, numberIn, valuePattern } from '@crossward/connector-kit';
import { checks } from './check-digits.ts';
import { normaliseNhsNumber } from './nhs-number.ts';
import { normaliseNoPersonalNumber } from './no-personal-number.ts';
import { normaliseSePersonalNumber } from './se-personal-number.ts';
import { normaliseSeReserveNumber } from './se-reserve-number.ts';

/** Which numbers an EHR connection accepts. */
export interface NumberPolicy {
  /** Whether numbers from the ranges reserved for synthetic people are accepted. */
  readonly synthetic: boolean;
  /** `ignore`: those of types with no other rules than their declaration may be wrong. Default: `enforce`. */
  readonly checkDigits?: 'enforce' | 'ignore' | undefined;
  /** Whether `se_personal_number` takes Swedish reserve numbers. Default: no. */
  readonly reserveNumbers?: boolean | undefined;
}

/** How the value of an identifier is read. */
export interface ValueRule {
  /** Returns the normal form. `undefined`: malformed. */
  readonly normalise: (value: string, policy: NumberPolicy, today: Date) => string | undefined;
  /** A sentence that says what is accepted. */
  readonly expected: string;
}

/** Types with more rules than a pattern and a check. */
const ownRules: Readonly<Record<string, ValueRule>> = {
  no_personal_number: {
    normalise: (value, { synthetic }) => normaliseNoPersonalNumber(value, synthetic),
    expected:
      'A no_personal_number is a fødselsnummer or D-number: 11 digits with a date and correct check digits. Numbers of synthetic people are accepted only where the EHR connection allows them.',
  },
  se_personal_number: {
    normalise: (value, { reserveNumbers }, today) =>
      normaliseSePersonalNumber(value, today) ?? (reserveNumbers ? normaliseSeReserveNumber(value) : undefined),
    expected:
      'A se_personal_number is a personnummer or coordination number: 10 or 12 digits with a past date and a correct check digit, and perhaps - or + before the last four. Reserve numbers are accepted only where the EHR connection allows them.',
  },
  nhs_number: {
    normalise: (value, { synthetic }) => normaliseNhsNumber(value, synthetic),
    expected:
      'An nhs_number is 10 digits with a correct check digit, and perhaps single spaces between digits. Numbers of synthetic people are accepted only where the EHR connection allows them.',
  },
};

/** The rule for a type. `undefined`: there is no such type, or it is `emr_id`. */
export function valueRule(id: string): ValueRule | undefined {
  const type = identifierType(id);
  return type && (ownRules[id] ?? { normalise: normaliser(type), expected: expectedOf(type) });
}

/** Whether more is known of a type than its declaration says. */
export function hasOwnRule(id: string): boolean {
  return Object.hasOwn(ownRules, id);
}

function normaliser(type: IdentifierType): ValueRule['normalise'] {
  return (text, { synthetic, checkDigits }) => {
    const value = normalForm(type, text);
    if (value === undefined || !(checkDigits === 'ignore' || checks[type.check](value))) return undefined;
    const isOfTests = type.synthetic !== undefined && valuePattern(type.synthetic).fits(value);
    return synthetic || !isOfTests ? value : undefined;
  };
}

function expectedOf({ id, name, pattern, groups, check, synthetic }: IdentifierType): string {
  return [
    `The value of ${id} (${name}) has the form ${pattern}${check === 'none' ? '' : ', with correct check digits'}`,
    groups ? `, and perhaps spaces or hyphens after ${groups.slice(0, -1).join(', ')} characters.` : '.',
    synthetic === undefined
      ? ''
      : ' Numbers of synthetic people are accepted only where the EHR connection allows them.',
  ].join('');
}

/** The number of this type that a text is, however it is written. `undefined`: it is none, or its check digits are wrong. */
export function numberOfType({ id, check }: IdentifierType, text: string): string | undefined {
  const value = numberIn(id, text);
  return value !== undefined && checks[check](value) ? value : undefined;
}
