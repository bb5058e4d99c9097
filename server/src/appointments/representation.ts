import type { Appointment, AppointmentState } from '@crossward/connector-kit';
import { type Client, hasScope } from '../clients/client-registry.ts';
import type { Awaited, Item } from '../confirmations/items.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { textForPeople } from '../ehr/text-for-people.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import type { PageLinks } from '../messages/page-links.ts';
import { formatInstant } from '../time/date-times.ts';
import type { WriteResponse } from '../writes/write-kind.ts';
import type { AppointmentBody, AppointmentStatus, PreviewBody } from './contract.ts';
import type { KnownAppointment } from './known-appointments.ts';
import type { Results } from './write/changes.ts';
import type { AppointmentPlan, MadeCodes, PlannedCode, StepResponse } from './write/plan.ts';

interface CareUnitContext {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/** Who gets a response to a write. All of them need `appointments:write`. */
interface ToWriter extends CareUnitContext {
  readonly services: { readonly pages: PageLinks };
  readonly clientId: string;
}

/** Who gets a response to a read. */
interface ToReader extends CareUnitContext {
  readonly services: { readonly pages: PageLinks };
  readonly client: Client;
}

const statusOf: Record<AppointmentState, AppointmentStatus> = {
  booked: 'booked',
  held: 'awaiting_confirmation',
  pending: 'awaiting_confirmation',
  cancelled: 'cancelled',
};

/** The EHR's states that can be shown with this status. A hold can expire in the gateway before it does in the EHR. */
export function statesOf(status: AppointmentStatus): AppointmentState[] {
  const states = (Object.keys(statusOf) as AppointmentState[]).filter((state) => statusOf[state] === status);
  return status === 'cancelled' ? [...states, 'held'] : states;
}

function appointmentPath(emr: string, careUnitId: string, id: string): string {
  const parts = ['', 'api', 'emrs', emr, 'care-units', careUnitId, 'appointments', id];
  return parts.map(encodeURIComponent).join('/');
}

/** The body of an appointment that is read. `item` is the gateway's record of a code for it. */
export function appointmentBody(
  appointment: KnownAppointment,
  { ehr, careUnit, services, client }: ToReader,
  { id = appointment.id, item }: { readonly id?: string | undefined; readonly item?: Item | undefined } = {},
): AppointmentBody {
  const clientId = hasScope(client, 'appointments:write', 'Appointment') ? client.id : undefined;
  return {
    ...appointmentFacts(appointment, { ehr, careUnit }, id),
    status: shownStatus(appointment, item),
    confirmation: item?.isPending ? confirmation(item, { careUnit, services, clientId }) : null,
    replaces_id: item?.replacesId ?? null,
  };
}

/** A hold with an expired code is shown as cancelled, even if the EHR still holds it. */
export function shownStatus({ state }: Appointment, item: Item | undefined): AppointmentStatus {
  if (item?.isPending) return 'awaiting_confirmation';
  if (isBookedSince({ state }, item)) return 'booked';
  return item && state === 'held' ? 'cancelled' : statusOf[state];
}

/**
 * Whether a hold was confirmed after it was read: the EHR is read before the gateway's tables. Without this, it would be taken
 * for a hold whose code has expired, and shown as cancelled although it is booked.
 */
export function isBookedSince({ state }: Pick<Appointment, 'state'>, item: Item | undefined): boolean {
  return state === 'held' && item?.state === 'confirmed';
}

interface Written extends ToWriter {
  readonly id: string | undefined;
  readonly replacesId: string | undefined;
  readonly awaited: Awaited | undefined;
}

/** The body of an appointment after a write. */
function writtenBody(
  appointment: KnownAppointment,
  { ehr, careUnit, services, clientId, id = appointment.id, replacesId, awaited }: Written,
): AppointmentBody {
  return {
    ...appointmentFacts(appointment, { ehr, careUnit }, id),
    status: awaited ? 'awaiting_confirmation' : statusOf[appointment.state],
    confirmation: awaited ? confirmation(awaited, { careUnit, services, clientId }) : null,
    replaces_id: replacesId ?? null,
    notice: textForPeople(appointment.notice) ?? null,
  };
}

/** The body of an appointment in a dry run. Ids and times that do not exist yet are null. */
export function previewBody(
  { appointment, id, replacesId, awaiting, word }: StepResponse,
  {
    ehr,
    careUnit,
    services,
    clientId,
    code,
  }: ToWriter & { readonly code: Pick<PlannedCode, 'kind' | 'channel'> | undefined },
): PreviewBody {
  const isNew = word === 'created' || (code !== undefined && replacesId !== undefined);
  return {
    ...appointmentFacts(appointment, { ehr, careUnit }, appointment.id),
    // A move that books anew has no id yet.
    id: isNew ? null : (id ?? (appointment.id || null)),
    status: code || awaiting ? 'awaiting_confirmation' : statusOf[appointment.state],
    confirmation: code
      ? {
          id: null,
          kind: code.kind,
          channel: code.channel,
          delivery: null,
          expires_at: null,
          attempts_remaining: careUnit.code.attempts,
          page_url: null,
        }
      : awaiting
        ? confirmation(awaiting, { careUnit, services, clientId })
        : null,
    replaces_id: replacesId ?? null,
    change: word,
  };
}

/** What an EHR says of an appointment, as every response and event has it. */
export function appointmentFacts(
  appointment: Appointment & Pick<KnownAppointment, 'supersedesId'>,
  { ehr, careUnit }: CareUnitContext,
  id = appointment.id,
): AppointmentBody {
  return {
    id,
    status: statusOf[appointment.state],
    start: formatInstant(appointment.start, careUnit.timeZone),
    end: appointment.end && formatInstant(appointment.end, careUnit.timeZone),
    comment: appointment.comment,
    patient_id: formatIdentifier({ type: 'emr_id', value: appointment.patientId }),
    resource_id:
      appointment.resourceId === null ? null : formatIdentifier({ type: 'emr_id', value: appointment.resourceId }),
    resource_name: textForPeople(appointment.resourceName) ?? null,
    healthcare_service_id: appointment.healthcareServiceId,
    emr: ehr.id,
    care_unit_id: careUnit.id,
    confirmation: null,
    replaces_id: null,
    supersedes_id: appointment.supersedesId ?? null,
    attendance: appointment.attendance ?? null,
    modality: appointment.modality ?? null,
    notice: null,
  };
}

/**
 * Whoever has the link to the page can cancel, and have codes sent: it is for the client that began the confirmation, and may
 * write.
 */
function confirmation(
  awaited: Awaited,
  { careUnit, services, clientId }: Pick<ToWriter, 'careUnit' | 'services'> & { readonly clientId: string | undefined },
): AppointmentBody['confirmation'] {
  const isOwn = clientId !== undefined && awaited.clientId === clientId;
  return {
    id: awaited.confirmationId,
    kind: awaited.kind,
    channel: awaited.channel,
    delivery: awaited.delivery,
    expires_at: formatInstant(awaited.expiresAt, careUnit.timeZone),
    attempts_remaining: awaited.attemptsRemaining,
    page_url: isOwn ? services.pages.urlOf(awaited.confirmationId, awaited.pageTokenHash) : null,
  };
}

/** The response after a plan was performed. */
export function writtenResponse(
  { ehr, careUnit, services, clientId }: ToWriter,
  { steps, many }: AppointmentPlan,
  results: Results,
  made: MadeCodes,
): WriteResponse {
  const bodies = steps.flatMap(({ response, change }, index) => {
    if (!response) return [];
    const { supersedesId } = response.appointment;
    const result = change ? results.get(index) : { ...response.appointment, notice: null };
    if (!result) throw new Error('The EHR returned fewer appointments than it was sent changes');
    const appointment = { ...result, supersedesId };
    const { id: planned = appointment.id, replacesId } = response;
    const { id = planned, awaited = response.awaiting } = made.get(index) ?? made.get(planned) ?? {};
    return [writtenBody(appointment, { ehr, careUnit, services, clientId, id, replacesId, awaited })];
  });
  if (many) return { body: { appointments: bodies } };
  const [body] = bodies;
  if (!body) throw new Error('A plan for one appointment has no response');
  const isNew = steps.some(({ response }) => response?.word === 'created');
  return isNew ? { body, headers: { location: appointmentPath(ehr.id, careUnit.id, body.id) } } : { body };
}

/** The appointments of a response, in order. */
export function bodiesOf({ body }: WriteResponse): readonly AppointmentBody[] {
  return 'appointments' in body ? (body.appointments as AppointmentBody[]) : [body as AppointmentBody];
}
