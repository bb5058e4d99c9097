import type { FastifyRequest } from 'fastify';
import type { Access } from '../../api/endpoint.ts';
import type { AppointmentBody } from '../../appointments/contract.ts';
import { appointmentsNamed, type ClientIdentifier, identifiersOf } from '../../appointments/identified/store.ts';
import { inQuery } from '../../problems/places.ts';
import { problemAt } from '../../problems/problem.ts';
import { accessOf } from '../face.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import type { SentAppointment } from '../from-fhir/schemas.ts';
import { isNationalNumber } from '../identifier-systems.ts';
import { toFhirId } from '../ids.ts';
import { assertFew, assertNotInUrl, requireSystem, type Search, tokensOf } from '../search/input.ts';
import type { AppointmentNames } from '../to-fhir/appointment.ts';

/** Identifiers of one Appointment, and signs of a system and of a value, that are kept. */
const most = 10;
const longest = 1_000;

/**
 * The identifiers of an Appointment that are kept: those with system and value.
 *
 * @throws Problem `request_invalid` (422) for too many or too long ones, and for the number of a person
 */
export function keptIdentifiers({ identifier = [] }: SentAppointment): readonly ClientIdentifier[] {
  const kept = identifier.flatMap(({ system, value }, index) => {
    if (system === undefined || value === undefined) return [];
    const fault = (detail: string) => unprocessable(`/identifier/${index}`, detail, 'not-supported');
    if (isNationalNumber(system)) throw fault('The number of a person is no identifier of an Appointment.');
    if (system.length > longest || value.length > longest)
      throw fault(`The system and the value of an identifier have at most ${longest} characters.`);
    return [{ system, value }];
  });
  if (kept.length <= most) return kept;
  throw unprocessable('/identifier', `An Appointment has at most ${most} identifiers.`, 'not-supported');
}

/** Who reads, and where identifiers are kept. */
interface Data extends Access {
  readonly services: Parameters<typeof identifiersOf>[0];
}

export function dataOf(request: FastifyRequest): Data {
  return { ...accessOf(request), services: request.server.endpointDeps.services };
}

/** Reads what the client calls these appointments, so that they are shown with it. */
export async function readIdentifiers(
  { services, client, ehr }: Data,
  named: AppointmentNames,
  bodies: readonly Pick<AppointmentBody, 'id' | 'replaces_id'>[],
): Promise<void> {
  const ids = bodies.map(({ id, replaces_id }) => replaces_id ?? id);
  for (const [id, identifiers] of await identifiersOf(services, client.id, ehr.id, ids)) {
    named.identifiers.set(id, identifiers);
  }
}

/** The native ids of the appointments here that the client has given one of these identifiers. */
export async function idsNamed(request: FastifyRequest, identifiers: readonly ClientIdentifier[]): Promise<string[]> {
  const { services, client, ehr, careUnit } = dataOf(request);
  const found = await appointmentsNamed(services, client.id, identifiers);
  return found.filter((it) => it.emr === ehr.id && it.careUnitId === careUnit.id).map(({ id }) => id);
}

/**
 * The ids of the Appointments that `identifier` finds. `undefined`: the search has none.
 *
 * @throws Problem `request_invalid`
 */
export async function foundByIdentifier(request: FastifyRequest, search: Search): Promise<string[] | undefined> {
  const tokens = tokensOf(search, 'identifier');
  if (!tokens) return undefined;
  assertFew('identifier', tokens);
  const wanted = tokens.map((it) => requireSystem(it, 'identifier'));
  if (wanted.some(({ system }) => isNationalNumber(system))) {
    assertNotInUrl(request, 'identifier');
    throw problemAt(inQuery('identifier'), 'request_invalid', 'Search for a patient by patient.identifier.');
  }
  return (await idsNamed(request, wanted)).flatMap((id) => toFhirId(id) ?? []);
}
