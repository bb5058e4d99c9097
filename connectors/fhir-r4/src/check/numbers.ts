import type { NumberType, ProbeFinding } from '@crossward/connector-kit';
import type { FhirIdentifier, FhirResource } from '../fhir.ts';
import { escapeToken, type IdentifierSystems, knownNumbers } from '../mappers/identifiers.ts';
import type { FhirClient } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRejection } from '../server/outcome.ts';

type Identified = FhirResource & { readonly identifier?: readonly FhirIdentifier[] };

/** Checks which types of numbers are in use on the server, and recommends to claim only those. */
export async function probeNumbers(
  ehr: FhirConnection,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<void> {
  const { client, systems, patientIdentifierTypes, resourceIdentifierTypes } = ehr;
  const searches = [
    ['numbers of patients', 'Patient', patientIdentifierTypes, 'patient_identifier_types'],
    ['numbers of staff', 'Practitioner', resourceIdentifierTypes, 'resource_identifier_types'],
  ] as const;
  for (const [name, resourceType, claimed, setting] of searches) {
    const types = claimed.filter((type) => type !== 'emr_id');
    const uses = await Promise.all(types.map((type) => numberInUse(client, resourceType, systems, type)));
    const seen = types.filter((_, index) => typeof uses[index] === 'object');
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
    const example = uses.find((it) => typeof it === 'object');
    if (resourceType === 'Patient' && example) findings.push(await probeLists(ehr, example, recommended));
  }
}

/** Whether a number is found in a list of several, as the connector searches for all spellings of one. */
async function probeLists(
  { client, settings }: FhirConnection,
  { system = '', value = '' }: FhirIdentifier,
  recommended: Record<string, unknown>,
): Promise<ProbeFinding> {
  const name = 'lists of numbers';
  const list = [`no-such-${value}`, value].map((it) => `${escapeToken(system)}|${escapeToken(it)}`).join();
  const options = { post: settings.patient_search !== 'get', few: true };
  const found = await client.search('Patient', [['identifier', list]], options).catch((error: unknown) => {
    if (isRejection(error)) return undefined;
    throw error;
  });
  if (!found) return { name, status: 'ok', detail: 'The server rejects them, and is asked for one number at a time.' };
  if (found.length > 0) return { name, status: 'ok', detail: 'A number in a list is found.' };
  recommended.identifier_lists = false;
  const detail = 'The server finds nobody by a list of numbers, so it has to be asked for one at a time.';
  return { name, status: settings.identifier_lists === false ? 'ok' : 'problem', detail };
}

/**
 * A number of this type. `false`: nobody has one. `undefined`: the server rejects or ignores such a search. One that finds nothing
 * by a list is asked for each system.
 */
async function numberInUse(
  client: FhirClient,
  resourceType: string,
  systems: IdentifierSystems,
  type: NumberType,
): Promise<FhirIdentifier | false | undefined> {
  const each = systems(type).map((system) => `${escapeToken(system)}|`);
  const isNumber = (it: FhirIdentifier) => knownNumbers(systems, [type], [it]).length > 0;
  let found: FhirIdentifier | false | undefined;
  for (const value of each.length > 1 ? [each.join(), ...each] : each) {
    found = await numberWith(client, resourceType, value, isNumber);
    if (typeof found === 'object') return found;
  }
  return found;
}

/** Searches by system only: https://hl7.org/fhir/R4/search.html#token */
async function numberWith(
  client: FhirClient,
  resourceType: string,
  value: string,
  isNumber: (identifier: FhirIdentifier) => boolean,
): Promise<FhirIdentifier | false | undefined> {
  try {
    const found = client.pages(resourceType, [
      ['identifier', value],
      ['_elements', 'identifier'],
      ['_count', '20'],
    ]);
    for await (const { resources } of found) {
      const all = resources.flatMap(({ identifier = [] }: Identified) => identifier);
      if (resources.length > 0) return all.find(isNumber);
    }
    return false;
  } catch (error) {
    if (isRejection(error)) return undefined;
    throw error;
  }
}
