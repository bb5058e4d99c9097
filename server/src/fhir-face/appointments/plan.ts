import { isDeepStrictEqual } from 'node:util';
import type { Appointment } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { AppointmentBody } from '../../appointments/contract.ts';
import { identified } from '../../appointments/identified/kind.ts';
import { changeAppointment, createAppointment } from '../../appointments/routes.ts';
import { formatIdentifier } from '../../identifiers/index.ts';
import type { PlannedWrite } from '../../writes/write-kind.ts';
import { assertUnconditional, assertVersion, noteLost } from '../conditions.ts';
import { appointmentNames, type Directory, readDirectory } from '../directory.ts';
import { accessOf, baseOf } from '../face.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import { type ChangeRules, changeBody, creationBody } from '../from-fhir/native-bodies.ts';
import { lostFromAppointment, type Reading, readAppointment } from '../from-fhir/read-appointment.ts';
import type { SentAppointment } from '../from-fhir/schemas.ts';
import { patientNames } from '../ids.ts';
import { planNative } from '../native.ts';
import { warning } from '../operation-outcome.ts';
import { type AppointmentNames, toAppointment, versionOfAppointment } from '../to-fhir/appointment.ts';
import { toServiceType } from '../to-fhir/resource.ts';
import { dataOf, keptIdentifiers, readIdentifiers } from './identifiers.ts';
import { nativeAppointment } from './read.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the plan of a write to the FHIR face has read. Its response is shown with it. */
    directory?: Directory;
    /** The response to a create has the Appointment as it is now. */
    isPresent?: boolean;
  }
}

export async function readingIn(request: FastifyRequest): Promise<Reading> {
  request.directory ??= await readDirectory(request);
  const { ehr, careUnit } = accessOf(request);
  return { base: baseOf(request), careUnit, directory: request.directory, patients: patientNames(ehr) };
}

export async function planFhirBooking(
  request: FastifyRequest,
  appointment: SentAppointment,
  schedule?: string,
): Promise<PlannedWrite> {
  assertUnconditional(request);
  const reading = await readingIn(request);
  const wish = readAppointment(appointment, reading, schedule);
  const service = reading.directory.services.find(({ id }) => id === wish.service);
  const shown = service ? { serviceType: [toServiceType(service.id, service.name)] } : {};
  const identifiers = keptIdentifiers(appointment);
  const names = appointmentNames(accessOf(request), reading.directory);
  noteLost(request, lostFromAppointment(appointment, { ...shown, identifier: [...identifiers] }, { reading, names }));
  const body = creationBody(wish, reading.careUnit.timeZone);
  const planned = await planNative(request, createAppointment, { query: { dry_run: false }, body });
  // Before anything is booked: what is booked must be found again.
  const isNamed = (id: string) =>
    reading.patients.fhirIdOf(formatIdentifier({ type: 'emr_id', value: id })) !== undefined;
  if (planned.kind.patientsOf(planned.plan).every(isNamed))
    return identifiers.length === 0 ? planned : identified(planned, identifiers);
  throw unprocessable('/participant', 'The id of this patient is too long for FHIR.', 'not-supported');
}

export async function planFhirChange(
  request: FastifyRequest,
  before: AppointmentBody,
  appointment: SentAppointment,
  rules: Omit<ChangeRules, 'timeZone'>,
): Promise<PlannedWrite> {
  assertUnconditional(request);
  const reading = await readingIn(request);
  const names = appointmentNames(accessOf(request), reading.directory);
  const current = await currentOf(request, before, names);
  const wish = readAppointment(withoutSame(appointment, current), reading);
  const removed = Object.keys(rules.isPatch ? (current ?? {}) : {}).filter(
    (it) => it !== 'comment' && !(it in appointment),
  );
  noteLost(request, [
    ...lostFromAppointment(appointment, current ?? {}, { reading, names }),
    ...removed.map((it) => warning(`${it} is not removed.`, `Appointment.${it}`)),
  ]);
  const body = changeBody(before, wish, { ...rules, timeZone: reading.careUnit.timeZone });
  const params = { appointment_id: before.id };
  return planNative(request, changeAppointment, { params, query: { dry_run: false }, body });
}

/** An appointment as the client has read it. */
export async function currentOf(
  request: FastifyRequest,
  before: AppointmentBody,
  names: AppointmentNames,
): Promise<Appointment | undefined> {
  await readIdentifiers(dataOf(request), names, [before]);
  return toAppointment(before, names);
}

/**
 * An Appointment without what was read and says nothing: a Slot is one of a practitioner, room or device, who may be another one
 * now; of some appointments, the EHR knows a start alone, or a name alone.
 */
function withoutSame(appointment: SentAppointment, current: Appointment | undefined): SentAppointment {
  const isSame = (name: 'slot' | 'start' | 'end') => isDeepStrictEqual(appointment[name], current?.[name]);
  const isNameAlone = ({ actor }: SentAppointment['participant'][number]) =>
    actor !== undefined && !actor.reference && !actor.identifier;
  const participant = appointment.participant.filter(
    (it) => !isNameAlone(it) || !current?.participant.some((one) => isDeepStrictEqual(it, one)),
  );
  if (!isSame('slot') || !isSame('start') || !isSame('end')) return { ...appointment, participant };
  const { slot: _, start, ...rest } = appointment;
  return { ...rest, participant, ...(rest.end === undefined || start === undefined ? {} : { start }) };
}

/** The appointment that a request changes. A precondition comes before all that the body says: RFC 9110, section 13.2. */
export async function readBefore(request: FastifyRequest, idInPath: string): Promise<AppointmentBody> {
  const before = await nativeAppointment(request, idInPath);
  assertVersion(request, versionOfAppointment(before));
  return before;
}
