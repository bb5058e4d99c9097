import type { PatientIdentifier, ResourceIdentifier } from '@crossward/connector-kit';
import { nameableHeader, type ReadHeader, resolveHeaderReference } from './header-reference.ts';
import { IdentifierError } from './identifier-error.ts';
import { type IdentifierPolicy, parsePatientIdentifier, parseResourceIdentifier } from './notation.ts';

/**
 * Reads a patient identifier from a request, where it can be a header reference. The rules are those of
 * `resolveHeaderReference` and `parsePatientIdentifier`. An error about a header's value names the header.
 *
 * @throws {IdentifierError}
 */
export function readPatientIdentifier(
  text: string,
  policy: IdentifierPolicy,
  readHeader: ReadHeader,
): PatientIdentifier {
  return read(text, readHeader, (resolved) => parsePatientIdentifier(resolved, policy));
}

/**
 * Reads a resource identifier from a request, where it can be a header reference. The rules are those of
 * `resolveHeaderReference` and `parseResourceIdentifier`. An error about a header's value names the header.
 *
 * @throws {IdentifierError}
 */
export function readResourceIdentifier(
  text: string,
  policy: IdentifierPolicy,
  readHeader: ReadHeader,
): ResourceIdentifier {
  return read(text, readHeader, (resolved) => parseResourceIdentifier(resolved, policy));
}

function read<Result>(text: string, readHeader: ReadHeader, parse: (text: string) => Result): Result {
  const resolved = resolveHeaderReference(text, readHeader);
  try {
    return parse(resolved.text);
  } catch (error) {
    if (!(error instanceof IdentifierError) || resolved.header === undefined) throw error;
    throw new IdentifierError(error.reason, error.detail, nameableHeader(resolved.header));
  }
}
