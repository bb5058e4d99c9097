import type { Appointment, OperationOutcomeIssue } from '@medplum/fhirtypes';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import { isDateTime } from '../../time/date-times.ts';
import { agendasById, type Directory } from '../directory.ts';
import { typeOfSystem } from '../identifier-systems.ts';
import { careUnitLocationId, fromFhirId, notationOf, type PatientNames, readReference, readSlotId } from '../ids.ts';
import type { AppointmentNames } from '../to-fhir/appointment.ts';
import { isBookableType, typeOfKind } from '../to-fhir/resource.ts';
import type { Agenda } from '../to-fhir/schedule-and-slot.ts';
import { urls } from '../urls.ts';
import { unprocessable } from './faults.ts';
import { type Kept, keptOfResource, lostElements } from './lost.ts';
import { refused, type SentAppointment, type SentReference } from './schemas.ts';

/** What an Appointment says, in native terms. */
export interface Wish {
  readonly status: SentAppointment['status'];
  /** Native Patient ID. */
  readonly patient: string | undefined;
  /** Native Resource ID. */
  readonly resource: string | undefined;
  readonly service: string | undefined;
  readonly start: Date | undefined;
  readonly end: Date | undefined;
  readonly comment: string | undefined;
  readonly cancellationText: string | undefined;
}

/** Where an Appointment is read. */
export interface Reading {
  readonly base: string;
  readonly careUnit: CareUnitConnection;
  readonly directory: Directory;
  readonly patients: PatientNames;
}

/**
 * Reads an Appointment of a client.
 *
 * @param schedule of ISiK's `$book`, beside the Appointment
 * @throws Problem `request_invalid` (422) for what the gateway cannot do
 */
export function readAppointment(appointment: SentAppointment, reading: Reading, schedule?: string): Wish {
  assertUnderstood(appointment);
  const slots = readSlots(appointment, reading);
  const named = schedule === undefined ? undefined : agendasById(reading.directory).get(schedule);
  if (schedule !== undefined && !named) throw unprocessable('/parameter', 'The Schedule is not known.', 'value');
  const agenda = named ?? slots?.agenda;
  const actors = readActors(appointment, reading);
  const start = instantOf(appointment, 'start') ?? slots?.start;
  const end = instantOf(appointment, 'end') ?? slots?.end;
  assertDuration(appointment, start, end);
  if (slots && (slots.start.getTime() !== start?.getTime() || slots.end.getTime() !== end?.getTime())) {
    throw unprocessable('/slot', 'The Slots must cover the time from start to end, without a gap.');
  }
  return {
    status: appointment.status,
    patient: actors.patient,
    resource: one('/participant', 'resource', [agenda?.resource.id, actors.resource]),
    service: one('/serviceType', 'healthcare service', [agenda?.service.id, actors.service, codedService(appointment)]),
    start,
    end,
    comment: appointment.comment,
    cancellationText: appointment.cancelationReason?.text,
  };
}

function assertUnderstood(appointment: SentAppointment): void {
  for (const name of refused) {
    if (name in appointment) throw unprocessable(`/${name}`, `The gateway does not take ${name}.`, 'not-supported');
  }
  const modified = appointment.participant.findIndex((it) => 'modifierExtension' in it);
  if (modified !== -1) {
    const pointer = `/participant/${modified}/modifierExtension`;
    throw unprocessable(pointer, 'The gateway does not take modifierExtension.', 'not-supported');
  }
  const declined = appointment.participant.findIndex(({ status }) => status === 'declined');
  if (declined !== -1) {
    const detail = 'Nobody declines here: cancel the Appointment.';
    throw unprocessable(`/participant/${declined}/status`, detail, 'not-supported');
  }
  if (appointment.cancelationReason && appointment.status !== 'cancelled') {
    const detail = 'Only a cancelled Appointment has a cancelationReason (app-4).';
    throw unprocessable('/cancelationReason', detail, 'invariant');
  }
  if ((appointment.start === undefined) !== (appointment.end === undefined)) {
    throw unprocessable(
      appointment.start === undefined ? '/start' : '/end',
      'Send start and end together (app-2).',
      'invariant',
    );
  }
}

/**
 * The elements of an Appointment that are not kept, each with a warning.
 *
 * @param shown what the gateway shows of it afterwards, as far as that is known
 * @param names of the actors, which a client may repeat
 */
export function lostFromAppointment(
  appointment: SentAppointment,
  shown: Partial<Appointment>,
  { reading, names }: { readonly reading: Reading; readonly names: AppointmentNames },
): OperationOutcomeIssue[] {
  const { comment, cancelationReason } = appointment;
  const isReasonComment = comment === undefined || comment === shown.comment || comment === cancelationReason?.text;
  return lostElements(
    appointment,
    {
      ...keptOfResource,
      status: true,
      start: true,
      end: true,
      minutesDuration: true,
      comment: true,
      cancelationReason: isReasonComment ? { text: true } : {},
      slot: { reference: true },
      serviceType: { coding: keptOfCoding },
      participant: ({ actor }: SentAppointment['participant'][number]) =>
        actor && { actor: keptOfActor(actor, displayOf(actor, reading, names)), status: keptOfStatus },
    },
    shown,
  );
}

const keptOfCoding = ({ system }: { readonly system?: string }): Kept =>
  system === urls.services ? { system: true, code: true } : undefined;

/** A server decides on what nobody has accepted yet. */
const keptOfStatus = (status: string): Kept => (status === 'accepted' || status === 'needs-action' ? true : undefined);

const keptOfActor = ({ reference }: SentReference, shown: string | undefined): Kept =>
  reference === undefined
    ? { type: true, identifier: { system: true, value: true } }
    : { reference: true, type: true, display: (sent: string) => (sent === shown ? true : undefined) };

/** As the gateway shows an actor that was read before. */
function displayOf(actor: SentReference, reading: Reading, names: AppointmentNames): string | undefined {
  if (actor.reference === undefined) return undefined;
  const known = readActor(actor, 0, reading);
  if (!known) return reading.careUnit.name;
  if (known.kind === 'patient') return undefined;
  return known.kind === 'resource' ? names.nameOfResource(known.id) : names.nameOfService(known.id);
}

/** The one value that several elements give. `undefined`: none gives any. */
function one(pointer: string, name: string, values: readonly (string | undefined)[]): string | undefined {
  const [value, ...others] = new Set(values.filter((it) => it !== undefined));
  if (others.length > 0) throw unprocessable(pointer, `The Appointment names more than one ${name}.`);
  return value;
}

interface Slots {
  readonly agenda: Agenda;
  readonly start: Date;
  readonly end: Date;
}

/** Slots of one Schedule, one after the other. */
function readSlots({ slot }: SentAppointment, { base, directory }: Reading): Slots | undefined {
  if (!slot || slot.length === 0) return undefined;
  const agendas = agendasById(directory);
  const names = slot.map(({ reference = '' }, index) => {
    const local = readReference(reference, base);
    const name = local?.type === 'Slot' ? readSlotId(local.id) : undefined;
    const agenda = name && agendas.get(name.scheduleId);
    if (!name || !agenda) throw unprocessable(`/slot/${index}`, 'The Slot is not known.', 'value');
    return { ...name, agenda };
  });
  const sorted = names.toSorted((a, b) => a.start.getTime() - b.start.getTime());
  const [first] = sorted;
  const last = sorted.at(-1);
  if (!first || !last) return undefined;
  const isGapless = sorted.every((it, index) => index === 0 || sorted[index - 1]?.end.getTime() === it.start.getTime());
  if (!isGapless || sorted.some(({ scheduleId }) => scheduleId !== first.scheduleId)) {
    throw unprocessable('/slot', 'The Slots must be of one Schedule, one after the other, without a gap.');
  }
  return { agenda: first.agenda, start: first.start, end: last.end };
}

function readActors({ participant }: SentAppointment, reading: Reading) {
  const found = participant.flatMap(({ actor }, index) => (actor ? [readActor(actor, index, reading)] : []));
  const of = (kind: Actor['kind']) => found.filter((it) => it?.kind === kind).map((it) => it?.id);
  return {
    patient: one('/participant', 'patient', of('patient')),
    resource: one('/participant', 'practitioner, room or device', of('resource')),
    service: one('/participant', 'HealthcareService', of('service')),
  };
}

interface Actor {
  readonly kind: 'patient' | 'resource' | 'service';
  readonly id: string;
}

/** `undefined`: the care unit itself. */
function readActor(
  actor: SentReference,
  index: number,
  { base, careUnit, directory, patients }: Reading,
): Actor | undefined {
  const pointer = `/participant/${index}/actor`;
  if (actor.reference === undefined) return readLogical(actor, pointer);
  const local = readReference(actor.reference, base);
  if (!local) throw unprocessable(pointer, 'The reference is not of this server.', 'not-supported');
  const { type, id } = local;
  if (actor.type !== undefined && actor.type !== type) {
    throw unprocessable(`${pointer}/type`, 'The type must be that of the reference.');
  }
  if (type === 'Location' && id === careUnitLocationId(careUnit.id)) return undefined;
  const unknown = () => unprocessable(pointer, `No ${type} has this id.`, 'value');
  if (type === 'HealthcareService') {
    const service = fromFhirId(id);
    if (service === undefined) throw unknown();
    return { kind: 'service', id: service };
  }
  const notation = type === 'Patient' ? patients.notationOf(id) : notationOf(id);
  if (notation === undefined) throw unknown();
  if (type === 'Patient') return { kind: 'patient', id: notation };
  const known = directory.resources.find((it) => it.id === notation);
  if (known && typeOfKind[known.kind] !== type) throw unknown();
  if (isBookableType(type)) return { kind: 'resource', id: notation };
  throw unprocessable(pointer, `A ${type} cannot take part.`, 'not-supported');
}

/** https://hl7.org/fhir/R4/references.html#logical */
function readLogical({ type, identifier }: SentReference, pointer: string): Actor {
  const { system = '', value } = identifier ?? {};
  if (value === undefined) throw unprocessable(pointer, 'The actor needs a reference or an identifier.', 'required');
  if (system === urls.resources) return { kind: 'resource', id: `emr_id:${value}` };
  const known = typeOfSystem(system);
  if (known === undefined) throw unprocessable(pointer, 'The system of the identifier is not known.', 'not-supported');
  const isPatient = type === undefined ? known.of.includes('patient') : type === 'Patient';
  return { kind: isPatient ? 'patient' : 'resource', id: `${known.id}:${value}` };
}

function codedService({ serviceType = [] }: SentAppointment): string | undefined {
  const codes = serviceType.flatMap(({ coding = [] }) => coding.filter(({ system }) => system === urls.services));
  return one(
    '/serviceType',
    'healthcare service',
    codes.map(({ code }) => code),
  );
}

/** Native times have whole seconds. */
function instantOf(appointment: SentAppointment, name: 'start' | 'end'): Date | undefined {
  const sent = appointment[name];
  if (sent === undefined) return undefined;
  const instant = new Date(sent);
  // No EHR keeps times in the other years of FHIR.
  if (!isDateTime(sent) || instant.getTime() % 1000 !== 0) {
    throw unprocessable(`/${name}`, `${name} must be an existing time from 1900 to 2200 in whole seconds.`, 'value');
  }
  return instant;
}

function assertDuration({ minutesDuration }: SentAppointment, start: Date | undefined, end: Date | undefined): void {
  if (minutesDuration === undefined || !start || !end) return;
  if (end.getTime() - start.getTime() === minutesDuration * 60_000) return;
  throw unprocessable('/minutesDuration', 'minutesDuration must agree with start and end, or be left out.');
}
