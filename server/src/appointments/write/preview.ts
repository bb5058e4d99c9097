import { inTransaction } from '../../db/transactions.ts';
import type { Proposal, WriteResponse } from '../../writes/write-kind.ts';
import { areFree } from '../free-time.ts';
import { previewBody } from '../representation.ts';
import { assertMovable } from '../target-rules.ts';
import { changesOf } from './changes.ts';
import { assertAllWithinLimits, demandOf } from './decision.ts';
import { type AppointmentPlan, patientsWithCode, timesTaken } from './plan.ts';

/** The response to a dry run: runs all checks without changing or sending anything. */
export async function previewPlan(proposal: Proposal, plan: AppointmentPlan): Promise<WriteResponse> {
  const { services, ehr, careUnit } = proposal;
  const changes = changesOf(plan);
  const freeing = changes.flatMap(({ change }) => (change.kind === 'create' ? [] : [change.appointmentId]));
  const times = changes.flatMap(({ response }) =>
    response && (response.word === 'created' || response.word === 'moved') ? [assertMovable(response.appointment)] : [],
  );
  if (!(await areFree(ehr, careUnit, times, freeing))) throw timesTaken(plan.steps);
  const patients = patientsWithCode(plan);
  if (patients.length > 0)
    await inTransaction(services.db, (tx) => assertAllWithinLimits(tx, proposal, patients, demandOf(plan)));
  return previewResponse(proposal, plan);
}

function previewResponse(proposal: Proposal, { steps, many }: AppointmentPlan): WriteResponse {
  const codes = new Map(steps.flatMap(({ awaits }) => (awaits?.newId === undefined ? [] : [[awaits.newId, awaits]])));
  const bodies = steps.flatMap(({ response, awaits }) => {
    if (!response) return [];
    const code = awaits ?? codes.get(response.id ?? '');
    return [previewBody(response, { ...proposal, code })];
  });
  return { status: 200, body: many ? { appointments: bodies } : (bodies[0] ?? {}) };
}
