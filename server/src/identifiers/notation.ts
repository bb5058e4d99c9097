import {
  type Identifier,
  identifierFault,
  identifierTypesOf,
  type PatientIdentifier,
  type ResourceIdentifier,
} from '@crossward/connector-kit';
import { IdentifierError } from './identifier-error.ts';
import { type NumberPolicy, type ValueRule, valueRule } from './value-rules.ts';

/** The identifiers that one EHR connection accepts. */
export interface IdentifierPolicy extends NumberPolicy {
  /** The types that the EHR supports. */
  readonly types: readonly string[];
  /** The rule for an `emr_id` of this EHR. Default: any text. */
  readonly emrId?: ValueRule | undefined;
}

/**
 * Reads a patient identifier, `[type ":"] value`, and returns it in its normal form. The rules are those of the "Patient
 * ID notation" of the API; where an authority defines the value, the source stands with the function for that type.
 *
 * @throws {IdentifierError} `identifier_malformed` or `identifier_type_unsupported`
 */
export function parsePatientIdentifier(
  text: string,
  policy: IdentifierPolicy,
  today: Date = new Date(),
): PatientIdentifier {
  return parse(text, 'patient', policy, today);
}

/**
 * Reads a resource identifier, `[type ":"] value`, and returns it in its normal form. The rules are those of the
 * "Resource ID notation" of the API; where an authority defines the value, the source stands with the function for that
 * type.
 *
 * @param today decides the century of Swedish numbers with ten digits
 * @throws {IdentifierError} `identifier_malformed` or `identifier_type_unsupported`
 */
export function parseResourceIdentifier(text: string, policy: IdentifierPolicy): ResourceIdentifier {
  return parse(text, 'resource', policy, new Date());
}

/** Formats an identifier in the notation of the API, always with its type. */
export function formatIdentifier(identifier: Identifier<string>): string {
  return `${identifier.type}:${identifier.value}`;
}

function parse(text: string, kind: 'patient' | 'resource', policy: IdentifierPolicy, today: Date): Identifier<string> {
  const { type, value } = split(text, kind);
  if (!policy.types.includes(type)) {
    throw new IdentifierError(
      'identifier_type_unsupported',
      `This EHR takes ${kind} identifiers of these types only: ${policy.types.join(', ')}.`,
    );
  }
  const fault = identifierFault(value);
  if (fault !== undefined) throw malformed(`The value of an identifier ${fault}.`);
  const rule = type === 'emr_id' ? policy.emrId : valueRule(type);
  if (!rule) return { type, value };
  const normalised = rule.normalise(value, policy, today);
  if (normalised === undefined) throw malformed(rule.expected);
  return { type, value: normalised };
}

function split(text: string, kind: 'patient' | 'resource'): Identifier<string> {
  const colon = text.indexOf(':');
  const type = colon === -1 ? 'emr_id' : text.slice(0, colon);
  const known = identifierTypesOf(kind);
  if (!known.includes(type)) {
    throw malformed(
      `The type before the first colon of a ${kind} identifier is one of ${known.join(', ')}, in lower case. An internal identifier that itself holds a colon is written with the prefix emr_id.`,
    );
  }
  return { type, value: text.slice(colon + 1) };
}

function malformed(detail: string): IdentifierError {
  return new IdentifierError('identifier_malformed', detail);
}
