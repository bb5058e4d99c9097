import { type Appointment, type AppointmentCreation, ConnectorError } from '@crossward/connector-kit';
import { isSameTime, requireResource, requireService, timeTaken } from '@crossward/connector-kit/rest';
import { toAppointment } from './appointments.ts';
import { type At, isAt, resourceIdOf, serviceOf } from './ehr.ts';
import { type FhirAppointment, isFhirId } from './fhir.ts';
import { isPatient } from './patients.ts';
import { longestComment, longestDescription } from './settings.ts';
import { adjacentSlots, type FreeSlot, freeSlots } from './slots.ts';
import { SpineError } from './spine-errors.ts';
import { ukTime } from './uk-time.ts';
import { extensions, identifierSystems, organisationTypes, profiles } from './urls.ts';

/**
 * Books the slots that cover the time. A practitioner can have two schedules at once: if somebody is faster, others of the same
 * time and delivery channel are tried.
 *
 * GP Connect drops identifiers, so nothing in the EHR tells which write has made an appointment. After `outcome_unknown` the
 * gateway looks in the patient's list for an appointment at the time of the slots.
 */
export async function book(at: At, creation: AppointmentCreation): Promise<Appointment> {
  const { patientId, comment } = creation;
  assertCommentFits(comment);
  if (!isFhirId(patientId)) throw new ConnectorError('patient_not_found', 'No such patient');
  let free = await slotsFor(at, creation);
  let refusal = timeTaken();
  for (;;) {
    const slots = adjacentSlots(free, creation);
    if (!slots) throw refusal;
    try {
      return await bookSlots(at, creation, slots);
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.kind !== 'time_slot_unavailable') throw error;
      refusal = error;
      free = free.filter((it) => !slots.includes(it) && it.channel === slots[0].channel);
    }
  }
}

async function bookSlots(
  at: At,
  creation: AppointmentCreation,
  slots: readonly [FreeSlot, ...FreeSlot[]],
): Promise<Appointment> {
  const requested = newAppointment(at, creation, slots);
  const made = await at.client.write('create:appointment-1', 'Appointment', requested).catch(async (error: unknown) => {
    throw await explained(at, creation.patientId, error);
  });
  const { record: result } = toAppointment(at, made);
  if (result && isAsRequested(result, creation)) return result;
  throw new ConnectorError('outcome_unknown', 'The EHR responded to a booking with another appointment');
}

/** @throws ConnectorError `rejected`. Practices must not cut off a text, so a longer one is not sent. */
export function assertCommentFits(comment: string | null | undefined): void {
  if ((comment?.length ?? 0) <= longestComment) return;
  const publicDetail = `A comment for this EHR has up to ${longestComment} characters.`;
  throw new ConnectorError('rejected', `The comment has more than ${longestComment} characters`, { publicDetail });
}

/** The free slots of the resource and healthcare service. */
async function slotsFor(
  at: At,
  { resourceId, healthcareServiceId, start, end }: AppointmentCreation,
): Promise<readonly FreeSlot[]> {
  const resource = await requireResource(at.lists, resourceId);
  await requireService(at.lists, healthcareServiceId);
  if (start <= at.now() || !resource.healthcareServiceIds.includes(healthcareServiceId)) return [];
  // Slots that end later begin earlier than the end, so the first search finds all of a booking.
  const { value: page } = await freeSlots(at, { start, end }).next();
  return (page?.slots ?? []).filter(
    (it: FreeSlot) => isAt(at, it) && resourceIdOf(it) === resourceId && serviceOf(at, it)?.id === healthcareServiceId,
  );
}

/** https://developer.nhs.uk/apis/gpconnect-1-2-7/appointments_use_case_book_an_appointment.html */
function newAppointment(
  { settings, now }: At,
  { patientId, healthcareServiceId, comment }: AppointmentCreation,
  slots: readonly [FreeSlot, ...FreeSlot[]],
): FhirAppointment {
  const { organization } = settings;
  const { type } = organization;
  const [first] = slots;
  const service = settings.healthcare_services?.find(({ id }) => id === healthcareServiceId);
  const actors = [`Patient/${patientId}`, first.location, ...(first.practitioner ? [first.practitioner] : [])];
  return {
    resourceType: 'Appointment',
    meta: { profile: [profiles.appointment] },
    contained: [
      {
        resourceType: 'Organization',
        id: '1',
        meta: { profile: [profiles.organization] },
        identifier: [{ system: identifierSystems.odsCode, value: organization.ods_code }],
        ...(type === undefined ? {} : { type: [{ coding: [{ system: organisationTypes, code: type }] }] }),
        name: organization.name,
        telecom: [{ system: 'phone', value: organization.phone }],
      },
    ],
    extension: [{ url: extensions.bookingOrganisation, valueReference: { reference: '#1' } }],
    status: 'booked',
    description: settings.description ?? (service?.name ?? '').slice(0, longestDescription),
    start: first.startText,
    end: slots.at(-1)?.endText ?? first.endText,
    slot: slots.map(({ id }) => ({ reference: `Slot/${id}` })),
    created: ukTime(now()),
    ...(comment === null ? {} : { comment }),
    participant: actors.map((reference) => ({ actor: { reference }, status: 'accepted' })),
  };
}

function isAsRequested(made: Appointment, { patientId, resourceId, start, end }: AppointmentCreation): boolean {
  return made.patientId === patientId && made.resourceId === resourceId && isSameTime(made, { start, end });
}

/** Which of the things that a booking names is unknown. Practices do not say, and some say `BAD_REQUEST` with HTTP 500. */
async function explained({ client }: At, patientId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof SpineError) || error.kind === 'time_slot_unavailable') return error;
  const isAboutReference = error.isAbsence || error.code === 'BAD_REQUEST' || error.code === 'INVALID_RESOURCE';
  if (!isAboutReference) return error;
  if (!(await isPatient(client, patientId))) return new ConnectorError('patient_not_found', 'No such patient');
  // The slot has gone since the search.
  return error.code === 'REFERENCE_NOT_FOUND' || error.code === 'NO_RECORD_FOUND'
    ? new ConnectorError('time_slot_unavailable', 'The EHR no longer has the slot', { cause: error })
    : error;
}
