import type { Appointment } from '@crossward/connector-kit';
import { resourceIdentifier } from '../api/identifiers.ts';
import { assertNotPast, readRange, type TimeRange } from '../api/request-times.ts';
import { requireResource } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import { type Fault, type Place, Problem } from '../problems/problem.ts';
import type { AppointmentUpdateBody } from './contract.ts';
import type { KnownAppointment } from './known-appointments.ts';
import { moveStep, rebookingSteps } from './rebooking/steps.ts';
import type { RequestContext } from './request-context.ts';
import { readComment } from './sent-details.ts';
import { assertMovable, targetState, updateReasons } from './target-rules.ts';
import type { Target } from './targets.ts';
import type { AppointmentPlan, ShownChange, Step } from './write/plan.ts';
import { longestAppointmentHours } from './write/plan.ts';

export const updatePlaces = { start: inBody('start'), end: inBody('end') };

/** The changes of an update, with its identifiers looked up. */
export interface RequestedUpdate {
  readonly time?: TimeRange | undefined;
  readonly resourceId?: string | undefined;
  /** `undefined` keeps the current comment. */
  readonly comment?: string | null | undefined;
}

export async function readUpdate(
  { ehr, careUnit }: RequestContext,
  body: Pick<AppointmentUpdateBody, 'start' | 'end' | 'resource_id' | 'comment'>,
  readHeader: ReadHeader,
  longestHours: number = longestAppointmentHours,
): Promise<RequestedUpdate> {
  const { changes, rebooks } = ehr.capabilities;
  if (!changes.includes('update') && !rebooks) throw new Problem('operation_unsupported');
  const { start, end } = body;
  const time =
    start !== undefined && end !== undefined
      ? readRange({ start, end }, updatePlaces, careUnit.timeZone, longestHours)
      : undefined;
  const place = inBody('resource_id');
  const resource =
    body.resource_id === undefined
      ? undefined
      : await requireResource(ehr, careUnit, resourceIdentifier(body.resource_id, place, ehr, readHeader), place);
  return { time, resourceId: resource?.id, comment: readComment(ehr, body.comment) };
}

/** Places and faults for problems with an update. */
interface UpdateFaults {
  /** Where the request names the appointment. */
  readonly place?: Place;
  /** The fault to report if the new time is taken. */
  readonly faultIfTaken?: Fault | undefined;
}

/** Changes the time, resource or comment of an appointment. Never needs a code. */
export function planUpdate(
  { ehr }: Pick<RequestContext, 'ehr'>,
  target: Target,
  requested: RequestedUpdate,
  { place, faultIfTaken }: UpdateFaults = {},
): AppointmentPlan {
  const reason = updateReasons[targetState(target)];
  if (reason) throw new Problem(reason);
  const { appointment, id } = target;
  const after = updated(appointment, requested);
  if (isNewTime(appointment, after)) assertNotPast(after.start, updatePlaces.start);
  const word = wordFor(appointment, after);
  if (word === 'moved' && appointment.hasStarted) throw new Problem('appointment_started');
  if (word === 'moved') assertMovable({ ...appointment, end: after.end });
  const { changes, rebooks, movesToNewId } = ehr.capabilities;
  const more = { ...(place ? { place } : {}), ...(faultIfTaken && word === 'moved' ? { faultIfTaken } : {}) };
  if (word === 'moved' && rebooks) {
    // The details of the former booking are not kept.
    if (ehr.capabilities.patientDetails === 'required') throw new Problem('operation_unsupported');
    return { steps: rebookingSteps(target, assertMovable(after), more), many: false };
  }
  if (word !== 'kept' && !changes.includes('update')) throw new Problem('operation_unsupported');
  if (word === 'moved' && movesToNewId) return { steps: [moveStep(target, requested, after, more)], many: false };
  const step: Step = {
    ...more,
    ...(word === 'kept'
      ? { response: { appointment, id, word } }
      : {
          change: {
            kind: 'update',
            appointmentId: appointment.id,
            ...(rebooks || movesToNewId ? { comment: requested.comment } : requested),
          },
          before: appointment,
          response: { appointment: after, id, word },
        }),
  };
  return { steps: [step], many: false };
}

/** The appointment as an update would leave it. */
export function updated(
  appointment: KnownAppointment,
  { time, resourceId, comment }: RequestedUpdate,
): KnownAppointment {
  return {
    ...appointment,
    start: time?.start ?? appointment.start,
    end: time?.end ?? appointment.end,
    resourceId: resourceId ?? appointment.resourceId,
    comment: comment === undefined ? appointment.comment : comment,
  };
}

function wordFor(before: Appointment, after: Appointment): ShownChange {
  if (isNewTime(before, after) || before.resourceId !== after.resourceId) return 'moved';
  return before.comment === after.comment ? 'kept' : 'updated';
}

function isNewTime(before: Appointment, after: Appointment): boolean {
  return before.start.getTime() !== after.start.getTime() || before.end?.getTime() !== after.end?.getTime();
}
