import type { NewEvent } from '../events/new-event.ts';
import type { Work } from '../operations/kind.ts';
import type { AppointmentBody } from './contract.ts';
import { type AppointmentEventType, appointmentEvent, updateFacts } from './events.ts';
import type { AppointmentPlan, Results, Step } from './write/plan.ts';

type Shown = Pick<AppointmentBody, 'id' | 'replaces_id'>;

/**
 * The events of a plan that was performed, or of the steps of it that the EHR has performed.
 *
 * @param bodies the appointments of the response. Absent: the plan was rejected, and nothing awaits a code
 */
export function planEvents(
  work: Work,
  { steps }: AppointmentPlan,
  results: Results,
  bodies?: readonly Shown[],
): NewEvent[] {
  const shown = bodies?.values();
  return steps.flatMap((step, index) => {
    const body = step.response && shown?.next().value;
    return stepEvents(work, { ...step, index }, results, body);
  });
}

function stepEvents(
  work: Work,
  step: Step & { readonly index: number },
  results: Results,
  body: Shown | undefined,
): NewEvent[] {
  const { change, before, response, awaits, releases } = step;
  const result = results.get(step.index);
  if (change && !result) return [];
  const appointment = result ?? response?.appointment;
  if (!appointment || !response) return [];
  const id = body?.replaces_id ?? body?.id ?? response.replacesId ?? response.id ?? appointment.id;
  const cancellationId = body?.replaces_id ? body.id : undefined;
  const event = (type: AppointmentEventType, more?: ReturnType<typeof updateFacts>) =>
    appointmentEvent(work, appointment, { type, id, cancellationId }, more);
  if (awaits) {
    // Another request may have just started the same cancellation: then nothing new awaits a code.
    const isNew = body !== undefined && (awaits.newId === undefined || awaits.newId === body.id);
    return isNew ? [event('appointment.awaiting_confirmation')] : [];
  }
  switch (change?.kind) {
    case 'create':
    case 'confirm':
      return [event('appointment.booked')];
    case 'update': {
      const facts = before && updateFacts(work, before, appointment);
      return facts ? [event('appointment.updated', facts)] : [];
    }
    case 'cancel':
    case 'release':
      return [event('appointment.cancelled')];
    case 'extend':
      return [];
    default:
      return releases === undefined ? [] : [event('appointment.cancelled')];
  }
}
