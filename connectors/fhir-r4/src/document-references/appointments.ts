import type { FhirClient } from '../client.ts';
import {
  type FhirDocumentReference,
  type FhirEncounter,
  localReference,
  type Reference,
  referenceTo,
} from '../fhir.ts';

/**
 * The appointments that documents are about: the one in `context.related`, or that of the Encounter.
 *
 * @param readsEncounters whether the server has Encounters
 */
export async function appointmentsOf(
  client: Pick<FhirClient, 'readMany'>,
  documents: readonly FhirDocumentReference[],
  readsEncounters: boolean,
): Promise<(document: FhirDocumentReference) => string | null> {
  const open = documents.filter((it) => relatedAppointment(it) === undefined).flatMap(encountersOf);
  const encounters = readsEncounters && open.length > 0 ? await client.readMany<FhirEncounter>(open) : [];
  const found = new Map(encounters.map((it) => [referenceTo(it), first(it.appointment, 'Appointment')]));
  return (document) => {
    const reference = relatedAppointment(document) ?? encountersOf(document).flatMap((it) => found.get(it) ?? [])[0];
    return reference?.slice('Appointment/'.length) ?? null;
  };
}

function relatedAppointment({ context }: FhirDocumentReference): string | undefined {
  return first(context?.related, 'Appointment');
}

function encountersOf({ context }: FhirDocumentReference): string[] {
  return of(context?.encounter, 'Encounter');
}

function first(references: readonly Reference[] | undefined, type: string): string | undefined {
  return of(references, type)[0];
}

function of(references: readonly Reference[] | undefined, type: string): string[] {
  return (references ?? []).flatMap((it) => localReference(it) ?? []).filter((it) => it.startsWith(`${type}/`));
}
