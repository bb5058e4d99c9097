import type { ProbeFinding } from '@crossward/connector-kit';
import type { FhirClient } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import type { FhirIdentifier, FhirResource } from '../fhir.ts';
import { escapeToken, type IdentifierSystems, knownNumbers, type NumberType } from '../identifiers.ts';
import { isRejection } from '../outcome.ts';

type Named = FhirResource & { readonly identifier?: readonly FhirIdentifier[] };

/** Checks which types of numbers are in use on the server, and recommends to claim only those. */
export async function probeNumbers(
  { client, systems, patientIdentifierTypes, resourceIdentifierTypes }: FhirConnection,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const searches = [
    ['numbers of patients', 'Patient', patientIdentifierTypes, 'patient_identifier_types'],
    ['numbers of staff', 'Practitioner', resourceIdentifierTypes, 'resource_identifier_types'],
  ] as const;
  for (const [name, resourceType, claimed, setting] of searches) {
    const types = claimed.filter((type) => type !== 'emr_id');
    const uses = await Promise.all(types.map((type) => isInUse(client, resourceType, systems, type)));
    const seen = types.filter((_, index) => uses[index] === true);
    const unused = types.filter((_, index) => uses[index] === false);
    if (types.length === 0) continue;
    if (seen.length === 0) {
      const detail = 'None was found. If the server has some, add their systems to identifier_systems.';
      findings.push({ name, status: 'untried', detail });
      continue;
    }
    const others = unused.length === 0 ? '' : ` Nobody has: ${unused.join(', ')}.`;
    findings.push({ name, status: 'ok', detail: `Seen: ${seen.join(', ')}.${others}` });
    if (unused.length > 0) recommended[setting] = types.filter((type) => !unused.includes(type));
  }
}

/**
 * Searches by system only: https://hl7.org/fhir/R4/search.html#token. `undefined`: the server rejects or ignores such a
 * search.
 */
async function isInUse(
  client: FhirClient,
  resourceType: string,
  systems: IdentifierSystems,
  type: NumberType,
): Promise<boolean | undefined> {
  const anyValue = systems[type].map((system) => `${escapeToken(system)}|`).join(',');
  try {
    const found = client.pages(resourceType, [
      ['identifier', anyValue],
      ['_elements', 'identifier'],
      ['_count', '20'],
    ]);
    for await (const { resources } of found) {
      const isSeen = resources.some(({ identifier }: Named) => knownNumbers(systems, [type], identifier).length > 0);
      if (resources.length > 0) return isSeen || undefined;
    }
    return false;
  } catch (error) {
    if (isRejection(error)) return undefined;
    throw error;
  }
}
