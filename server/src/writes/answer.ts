import type { Appointment } from '@crossward/connector-kit';
import { appointmentPath, previewBody, writtenBody } from '../appointments/representation.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { Answer } from '../idempotency/kept-write.ts';
import type { MadeIds } from './commit.ts';
import type { WritePlan } from './plan.ts';

interface Scene {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/** The answer to a plan that has been done. */
export function planAnswer(
  { ehr, careUnit }: Scene,
  plan: WritePlan,
  results: readonly Appointment[],
  made: MadeIds,
): Answer {
  const bodies = plan.answer.map((entry) => {
    const appointment = 'change' in entry.from ? results[entry.from.change] : entry.from.appointment;
    if (!appointment) throw new Error('The EHR answered fewer appointments than it was given changes');
    const planned = entry.id ?? appointment.id;
    const { id = planned, awaited = entry.awaiting } = made.get(planned) ?? {};
    return writtenBody(appointment, { ehr, careUnit, id, replacesId: entry.replacesId, awaited });
  });
  if (plan.many) return { body: { appointments: bodies } };
  const [body] = bodies;
  if (!body) throw new Error('A plan for one appointment has no answer');
  const isNew = plan.answer[0]?.word === 'created';
  return isNew ? { body, headers: { location: appointmentPath(ehr.id, careUnit.id, body.id) } } : { body };
}

/** What the answer would be, if the plan were done. */
export function planPreview({ ehr, careUnit }: Scene, plan: WritePlan): Answer {
  // The EHR would send the code; how, nobody knows before it does.
  const viaEhr =
    plan.viaEhr?.kind === 'request cancellation' ? { id: null, status: 'awaiting_confirmation' as const } : {};
  const bodies = plan.answer.map((entry, index) => ({
    ...previewBody(entry, { ehr, careUnit, confirmation: awaited(plan, index) }),
    ...viaEhr,
  }));
  return { status: 200, body: plan.many ? { appointments: bodies } : (bodies[0] ?? {}) };
}

/** The code that this entry of the answer would wait for. */
function awaited(plan: WritePlan, index: number): WritePlan['confirmations'][number] | undefined {
  const entry = plan.answer[index];
  return plan.confirmations.find(({ items }) =>
    items.some((item) => {
      if ('change' in item) return entry !== undefined && 'change' in entry.from && entry.from.change === item.change;
      return entry?.id === item.newId;
    }),
  );
}
