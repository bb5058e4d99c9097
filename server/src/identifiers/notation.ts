import {
  type Identifier,
  identifierFault,
  type PatientIdentifier,
  type PatientIdentifierType,
  patientIdentifierTypes,
  type ResourceIdentifier,
  type ResourceIdentifierType,
  resourceIdentifierTypes,
} from '@crossward/connector-kit';
import { normaliseHsaId } from './hsa-id.ts';
import { IdentifierError } from './identifier-error.ts';
import { normaliseNhsNumber } from './nhs-number.ts';
import { normaliseNoPersonalNumber } from './no-personal-number.ts';
import { normaliseSePersonalNumber } from './se-personal-number.ts';
import { normaliseSeReserveNumber } from './se-reserve-number.ts';

/** The identifiers that one EHR connection accepts. */
export interface IdentifierPolicy<Type extends string> {
  /** The types that the EHR supports. */
  readonly types: readonly Type[];
  /** Whether numbers from the ranges reserved for synthetic people are accepted. */
  readonly synthetic: boolean;
  /** Whether `se_personal_number` takes Swedish reserve numbers. Default: no. */
  readonly reserveNumbers?: boolean | undefined;
  /** The rule for an `emr_id` of this EHR. Default: any text. */
  readonly emrId?: ValueRule | undefined;
}

type AnyType = PatientIdentifierType | ResourceIdentifierType;

type NumberPolicy = Pick<IdentifierPolicy<string>, 'synthetic' | 'reserveNumbers'>;

/** How the value of an identifier is read. */
export interface ValueRule {
  /** Returns the normal form. `undefined`: malformed. */
  readonly normalise: (value: string, policy: NumberPolicy, today: Date) => string | undefined;
  /** A sentence that says what is accepted. */
  readonly expected: string;
}

const valueRules: Readonly<Record<AnyType, ValueRule>> = {
  emr_id: {
    normalise: (value) => value,
    expected: 'An emr_id must not be empty.',
  },
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
  hsa_id: {
    normalise: normaliseHsaId,
    expected: 'An hsa_id is SE, ten digits, a hyphen, and 1 to 18 letters (A to Z) or digits.',
  },
};

/**
 * Reads a patient identifier, `[type ":"] value`, and returns it in its normal form. The rules are those of the "Patient
 * ID notation" of the API; where an authority defines the value, the source stands with the function for that type.
 *
 * @param today decides the century of Swedish numbers with ten digits
 * @throws {IdentifierError} `identifier_malformed` or `identifier_type_unsupported`
 */
export function parsePatientIdentifier(
  text: string,
  policy: IdentifierPolicy<PatientIdentifierType>,
  today: Date = new Date(),
): PatientIdentifier {
  return parse(text, 'patient', patientIdentifierTypes, policy, today);
}

/**
 * Reads a resource identifier, `[type ":"] value`, and returns it in its normal form. The rules are those of the
 * "Resource ID notation" of the API; where an authority defines the value, the source stands with the function for that
 * type.
 *
 * @param today decides the century of Swedish numbers with ten digits
 * @throws {IdentifierError} `identifier_malformed` or `identifier_type_unsupported`
 */
export function parseResourceIdentifier(
  text: string,
  policy: IdentifierPolicy<ResourceIdentifierType>,
  today: Date = new Date(),
): ResourceIdentifier {
  return parse(text, 'resource', resourceIdentifierTypes, policy, today);
}

/** Formats an identifier in the notation of the API, always with its type. */
export function formatIdentifier(identifier: Identifier<AnyType>): string {
  return `${identifier.type}:${identifier.value}`;
}

function parse<Type extends AnyType>(
  text: string,
  kind: 'patient' | 'resource',
  knownTypes: readonly Type[],
  policy: IdentifierPolicy<Type>,
  today: Date,
): Identifier<Type> {
  const { type, value } = split(text, kind, knownTypes);
  if (!policy.types.includes(type)) {
    throw new IdentifierError(
      'identifier_type_unsupported',
      `This EHR takes ${kind} identifiers of these types only: ${policy.types.join(', ')}.`,
    );
  }
  const fault = identifierFault(value);
  if (fault !== undefined) throw malformed(`The value of an identifier ${fault}.`);
  const rule = (type === 'emr_id' && policy.emrId) || valueRules[type];
  const normalised = rule.normalise(value, policy, today);
  if (normalised === undefined) throw malformed(rule.expected);
  return { type, value: normalised };
}

function split<Type extends AnyType>(
  text: string,
  kind: 'patient' | 'resource',
  knownTypes: readonly Type[],
): { type: Type; value: string } {
  const colon = text.indexOf(':');
  const prefix = colon === -1 ? 'emr_id' : text.slice(0, colon);
  const type = knownTypes.find((known) => known === prefix);
  if (type === undefined) {
    throw malformed(
      `The type before the first colon of a ${kind} identifier is one of ${knownTypes.join(', ')}, in lower case. An internal identifier that itself holds a colon is written with the prefix emr_id.`,
    );
  }
  return { type, value: text.slice(colon + 1) };
}

function malformed(detail: string): IdentifierError {
  return new IdentifierError('identifier_malformed', detail);
}
