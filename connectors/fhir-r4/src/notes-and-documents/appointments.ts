import {
  type FhirDocumentReference,
  type FhirEncounter,
  localReference,
  type Reference,
  referenceTo,
} from '../fhir.ts';
import { readGroupId } from '../mappers/group.ts';
import type { FhirClient } from '../server/client.ts';

/** The identifier of a reference to one patient's share in an Appointment of several patients. */
const groupIdSystem = 'urn:crossward:appointment';

export function appointmentReference(appointmentId: string) {
  const { id, patientId } = readGroupId(appointmentId);
  const reference = { reference: `Appointment/${id}` };
  return patientId === undefined
    ? reference
    : { ...reference, identifier: { system: groupIdSystem, value: appointmentId } };
}

/**
 * The appointments that documents are about: the one in `context.related`, or that of the Encounter.
 *
 * @param readsEncounters whether the server has Encounters
 */
export async function appointmentsOf(
  client: Pick<FhirClient, 'readAllowed'>,
  documents: readonly FhirDocumentReference[],
  readsEncounters: boolean,
): Promise<(document: FhirDocumentReference) => string | null> {
  const open = documents.filter((it) => relatedAppointment(it) === null).flatMap(encountersOf);
  const encounters = readsEncounters && open.length > 0 ? await client.readAllowed<FhirEncounter>(open) : [];
  const found = new Map(encounters.map((it) => [referenceTo(it), firstAppointment(it.appointment)]));
  return (document) =>
    relatedAppointment(document) ?? encountersOf(document).flatMap((it) => found.get(it) ?? [])[0] ?? null;
}

function relatedAppointment({ context }: FhirDocumentReference): string | null {
  return firstAppointment(context?.related);
}

function firstAppointment(references: readonly Reference[] | undefined): string | null {
  const first = references?.find((it) => localReference(it)?.startsWith('Appointment/'));
  const { system, value } = first?.identifier ?? {};
  if (system === groupIdSystem && value !== undefined) return value;
  return localReference(first)?.slice('Appointment/'.length) ?? null;
}

function encountersOf({ context }: FhirDocumentReference): string[] {
  return (context?.encounter ?? [])
    .flatMap((it) => localReference(it) ?? [])
    .filter((it) => it.startsWith('Encounter/'));
}
