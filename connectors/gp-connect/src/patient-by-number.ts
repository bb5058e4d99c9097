import { ConnectorError, numberIn } from '@crossward/connector-kit';
import { readRecord } from '@crossward/connector-kit/rest';
import type { GpConnectConnection } from './connection.ts';
import type { FhirAppointment, Reference } from './fhir.ts';
import { patientIdWith } from './patients.ts';
import { identifierSchema } from './records.ts';
import { identifierSystems } from './urls.ts';

/** An appointment with its patient by reference, for reading: it is not written back. */
export type NamePatient = (appointment: FhirAppointment) => Promise<FhirAppointment>;

/**
 * Finds the patients whom appointments name by NHS number only. Each number is looked up once. Whoever cannot be found, or
 * cannot be read, is not guessed: the appointment stays without a patient.
 *
 * @param wanted only this patient is named
 */
export function patientNamer({ client, references }: GpConnectConnection, wanted?: string): NamePatient {
  const found = new Map<string, Promise<string | undefined>>();

  function idWith(number: string): Promise<string | undefined> {
    const id = found.get(number) ?? patientIdWith(client, number).catch(undefinedIfUnclear);
    found.set(number, id);
    return id;
  }

  return async (appointment) => {
    const participant: unknown = appointment.participant;
    if (!Array.isArray(participant)) return appointment;
    const actors = participant.map((it: { readonly actor?: Reference } | null) => it?.actor ?? undefined);
    if (references.to('Patient', actors) !== undefined) return appointment;
    const at = actors.findIndex((it) => nhsNumberOf(it) !== undefined);
    const number = nhsNumberOf(actors[at]);
    const id = number === undefined ? undefined : await idWith(number);
    if (id === undefined || id !== (wanted ?? id)) return appointment;
    const named = { ...participant[at], actor: { reference: `Patient/${id}` } };
    return { ...appointment, participant: participant.with(at, named) };
  };
}

/** Of an actor who is named by nothing else. https://hl7.org/fhir/STU3/references.html#Reference */
function nhsNumberOf(actor: Reference | undefined): string | undefined {
  if (typeof actor !== 'object' || 'reference' in actor || !('identifier' in actor)) return undefined;
  const { record } = readRecord(identifierSchema, actor.identifier);
  return record?.system === identifierSystems.nhsNumber ? numberIn('nhs_number', record.value) : undefined;
}

function undefinedIfUnclear(error: unknown): undefined {
  if (error instanceof ConnectorError && (error.kind === 'rejected' || error.kind === 'patient_ambiguous')) return;
  throw error;
}
