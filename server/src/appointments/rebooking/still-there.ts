import { Problem } from '../../problems/problem.ts';
import type { Work } from '../../writes/write-kind.ts';
import { type Call, ehrChange } from '../write/changes.ts';
import { isSame } from '../write/compensate.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { twoStepMovesOf } from './moves.ts';

/**
 * Rejects a move whose former appointment staff have cancelled or changed since the plan was made: the new one was booked
 * without it. Called right before these steps are sent to the EHR.
 *
 * @throws Problem `appointment_cancelled`, `appointment_started` or `appointment_changed`
 */
export async function assertStillThere(work: Work, plan: AppointmentPlan, { operationId, steps }: Call): Promise<void> {
  const { call, careUnit, ehr, isFirst, expiresAt } = work;
  const indices = new Set(steps.map(({ index }) => index));
  const former = twoStepMovesOf(plan).flatMap(({ cancellation }) =>
    indices.has(cancellation.index) ? cancellation.before : [],
  );
  if (former.length === 0) return;
  const changes = steps.map(({ change }) => ehrChange(change, expiresAt));
  // An earlier call may have cancelled them.
  const isRepeated = !isFirst && ehr.offers('findOperation');
  if (isRepeated && (await call('findOperation', careUnit, operationId, changes)) !== null) return;
  const found = await call(
    'findAppointments',
    careUnit,
    former.map(({ id }) => id),
  );
  const nowById = new Map(found.map((appointment) => [appointment.id, appointment]));
  for (const before of former) {
    const now = nowById.get(before.id);
    if (!now) throw new Problem('appointment_not_found', { status: 409 });
    if (now.state === 'cancelled') throw new Problem('appointment_cancelled');
    if (now.hasStarted) throw new Problem('appointment_started');
    if (!isSame(now, before)) throw new Problem('appointment_changed');
  }
}
