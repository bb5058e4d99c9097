import type { CareUnitConnection, EhrConnection } from '../../ehr/connection.ts';
import type { Answer } from '../../operations/answer.ts';
import { appointmentPath, previewBody, writtenBody } from '../representation.ts';
import type { AppointmentPlan, Results } from './plan.ts';
import type { MadeCodes } from './record.ts';

interface CareUnitContext {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/** The answer to a plan that has been done. */
export function writtenAnswer(
  { ehr, careUnit }: CareUnitContext,
  { steps, many }: AppointmentPlan,
  results: Results,
  made: MadeCodes,
): Answer {
  const bodies = steps.flatMap(({ answer, change }, index) => {
    if (!answer) return [];
    const appointment = change ? results.get(index) : answer.appointment;
    if (!appointment) throw new Error('The EHR answered fewer appointments than it was given changes');
    const { id: planned = appointment.id, replacesId } = answer;
    const { id = planned, awaited = answer.awaiting } = made.get(index) ?? made.get(planned) ?? {};
    return [writtenBody(appointment, { ehr, careUnit, id, replacesId, awaited })];
  });
  if (many) return { body: { appointments: bodies } };
  const [body] = bodies;
  if (!body) throw new Error('A plan for one appointment has no answer');
  const isNew = steps.some(({ answer }) => answer?.word === 'created');
  return isNew ? { body, headers: { location: appointmentPath(ehr.id, careUnit.id, body.id) } } : { body };
}

/** What the answer would be, if the plan were done. */
export function previewAnswer({ ehr, careUnit }: CareUnitContext, { steps, many }: AppointmentPlan): Answer {
  const codes = new Map(steps.flatMap(({ awaits }) => (awaits?.newId === undefined ? [] : [[awaits.newId, awaits]])));
  const bodies = steps.flatMap(({ answer, awaits }) => {
    if (!answer) return [];
    const code = awaits ?? codes.get(answer.id ?? '');
    return [previewBody(answer, { ehr, careUnit, code })];
  });
  return preview(bodies, many);
}

export function preview(bodies: readonly object[], many: boolean): Answer {
  return { status: 200, body: many ? { appointments: bodies } : (bodies[0] ?? {}) };
}
