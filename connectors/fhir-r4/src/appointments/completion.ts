import { wholeName } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import {
  type FhirAppointment,
  type FhirIdentifier,
  type FhirPatient,
  type FhirPractitioner,
  type FhirResource,
  type FhirSlot,
  localReference,
  type Participant,
  type Reference,
  referenceTo,
} from '../fhir.ts';
import { appointmentTime, patientIdOf, slotsOf } from '../mappers/appointment.ts';
import { escapeToken, knownNumbers } from '../mappers/identifiers.ts';
import { slotTime } from '../mappers/slot.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isReadable } from '../server/received/receive.ts';

/**
 * Appointments with what they say only by their Slots, by identifiers or in contained resources: the resource, the patient and
 * the end. They are for reading, and are not written back.
 */
export async function completed(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  appointments: readonly FhirAppointment[],
): Promise<readonly FhirAppointment[]> {
  const findPatient = patientFinder(ehr);
  const named = await Promise.all(appointments.map((it) => withPeople(ehr, directory, findPatient, it)));
  const open = named.filter((it) => needsSlots(it, directory));
  if (open.length === 0) return named;
  const slots = await readSlots(ehr, open.flatMap(slotsOf));
  return named.map((it) => (open.includes(it) ? withSlots(it, slots, directory) : it));
}

function needsSlots(appointment: FhirAppointment, directory: CareUnitDirectory): boolean {
  if (appointment.start === undefined || slotsOf(appointment).length === 0) return false;
  return directory.resourceOf(appointment) === undefined || !appointmentTime(appointment);
}

/** Slots that are gone, or may not be read, say nothing. */
async function readSlots({ client }: FhirConnection, references: readonly string[]): Promise<Map<string, FhirSlot>> {
  const found = await client.readAllowed<FhirSlot>(references);
  return new Map(found.map((slot) => [referenceTo(slot), slot]));
}

function withSlots(
  appointment: FhirAppointment,
  slots: ReadonlyMap<string, FhirSlot>,
  directory: CareUnitDirectory,
): FhirAppointment {
  const own = slotsOf(appointment).flatMap((it) => slots.get(it) ?? []);
  const offer = own.map((slot) => directory.offerOfSchedule(localReference(slot.schedule) ?? '')).find((it) => it);
  const reference = offer && directory.resourceOf(appointment) === undefined && directory.referenceOf(offer.resourceId);
  const ends = own.flatMap((slot) => slotTime(slot)?.end.getTime() ?? []);
  const isOpen = !appointmentTime(appointment) && ends.length > 0;
  return {
    ...appointment,
    ...(isOpen ? { end: new Date(Math.max(...ends)).toISOString() } : {}),
    ...(reference
      ? { participant: [...(appointment.participant ?? []), { actor: { reference }, status: 'accepted' }] }
      : {}),
  };
}

/** Names the patient and the practitioner by reference, if the record names them by identifier or contains them. */
async function withPeople(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  findPatient: FindPatient,
  appointment: FhirAppointment,
): Promise<FhirAppointment> {
  const { participant = [] } = appointment;
  if (participant.every(({ actor }) => !actor || localReference(actor) !== undefined)) return appointment;
  const hasPatient = patientIdOf(appointment) !== undefined;
  const people = participant.map(async (it): Promise<Participant> => {
    if (!it.actor || localReference(it.actor) !== undefined) return it;
    const actor = actorIn(appointment, it.actor);
    if (actor.type === 'Patient') {
      if (!hasPatient && actor.identifiers.length > 0) ehr.client.habits.sawPatientNumber();
      const reference = hasPatient ? undefined : await findPatient(actor.identifiers);
      return reference === undefined ? it : { ...it, actor: { ...it.actor, reference } };
    }
    const reference = practitionerWith(ehr, directory, actor.identifiers);
    if (reference !== undefined) return { ...it, actor: { ...it.actor, reference } };
    return actor.name === undefined ? it : { ...it, actor: { ...it.actor, display: it.actor.display ?? actor.name } };
  });
  return { ...appointment, participant: await Promise.all(people) };
}

interface NamedActor {
  readonly type: string | undefined;
  readonly identifiers: readonly FhirIdentifier[];
  readonly name?: string | undefined;
}

/** https://hl7.org/fhir/R4/references.html#contained */
function actorIn(appointment: FhirAppointment, actor: Reference): NamedActor {
  const own = actor.identifier ? [actor.identifier] : [];
  const contained = (appointment.contained ?? []).find((it) => `#${it.id}` === actor.reference) as
    | FhirResource
    | undefined;
  if (!contained || !isReadable(contained)) return { type: actor.type, identifiers: own };
  const { identifier = [], name } = contained as FhirPatient | FhirPractitioner;
  const isPerson = contained.resourceType === 'Practitioner';
  return {
    type: contained.resourceType,
    identifiers: [...own, ...identifier],
    name: isPerson ? wholeName(name, new Date()) : undefined,
  };
}

/** The patients of one list, by `system|value`. Each is searched for once. */
type FindPatient = (identifiers: readonly FhirIdentifier[]) => Promise<string | undefined>;

function patientFinder({ client, settings }: FhirConnection): FindPatient {
  const searches = new Map<string, Promise<string | undefined>>();
  const post = settings.patient_search !== 'get';

  /** `undefined`: none, or more than one. Nobody is guessed. */
  async function search(system: string, value: string): Promise<string | undefined> {
    const token = `${escapeToken(system)}|${escapeToken(value)}`;
    const found = await client.search<FhirPatient>('Patient', [['identifier', token]], { post, few: true });
    const isTheirs = (it: FhirIdentifier) => it.system === system && it.value === value;
    const [only, ...others] = found.filter(({ identifier = [] }) => identifier.some(isTheirs));
    return only && others.length === 0 ? referenceTo(only) : undefined;
  }

  return async (identifiers) => {
    for (const { system, value } of identifiers) {
      if (!system || !value) continue;
      const key = `${system}|${value}`;
      const known = searches.get(key) ?? search(system, value);
      searches.set(key, known);
      const reference = await known;
      if (reference !== undefined) return reference;
    }
    return undefined;
  };
}

function practitionerWith(
  { systems, resourceIdentifierTypes }: FhirConnection,
  directory: CareUnitDirectory,
  identifiers: readonly FhirIdentifier[],
): string | undefined {
  const types = resourceIdentifierTypes.filter((type) => type !== 'emr_id');
  const numbers = knownNumbers(systems, types, identifiers);
  const theirs = directory.resources.filter((resource) =>
    resource.identifiers.some((it) => numbers.some(({ type, value }) => it.type === type && it.value === value)),
  );
  const [only] = theirs;
  return only && theirs.length === 1 ? directory.referenceOf(only.id) : undefined;
}
