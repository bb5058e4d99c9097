import { decideCode, decideRelease } from '../../confirmations/decide-code.ts';
import { patientHashes } from '../../confirmations/items.ts';
import { assertWithinBudgets, assertWithinLimits } from '../../confirmations/limits.ts';
import type { Tx } from '../../db/kysely.ts';
import type { Channel } from '../../db/tables/messages.ts';
import type { Decide, Proposal, Reservation, WriteServices } from '../../writes/write-kind.ts';
import { changesOf } from './changes.ts';
import { type AppointmentPlan, codeGroups, patientsWithCode } from './plan.ts';

interface Requested extends Proposal {
  readonly services: WriteServices;
}

/** What counts towards the limits of patients while the write is open. */
export function codesToSend(
  { services, ehr, careUnit }: Proposal,
  patients: readonly string[],
): Reservation | undefined {
  if (patients.length === 0) return undefined;
  const { lifetimeSeconds } = careUnit.code;
  return { lifetimeSeconds, patientHashes: patients.map((id) => patientHashes(services.keys, ehr.id, id)[0]) };
}

/**
 * What the transaction that stores a plan decides: whether the entered code is correct, whether drafts can be
 * released, and whether the patients may get more codes. `undefined`: nothing.
 *
 * @param code what the patient entered, for a confirmation. It is not part of the plan, because plans are stored
 */
export function decisionFor(requested: Requested, plan: AppointmentPlan, code?: string): Decide | undefined {
  const { confirmationId, steps } = plan;
  if (confirmationId !== undefined) return checkedCode(requested, plan, confirmationId, code);
  const released = steps.flatMap(({ releases }) => releases ?? []);
  const patients = patientsWithCode(plan);
  if (released.length === 0 && patients.length === 0) return undefined;
  return async (tx, writeId) => {
    const problem = released.length > 0 ? await decideRelease(tx, requested.ehr.id, released) : undefined;
    if (problem) return problem;
    await assertAllWithinLimits(tx, requested, patients, { writeId, ...demandOf(plan) });
    return undefined;
  };
}

function checkedCode(
  { services, ehr }: Requested,
  plan: AppointmentPlan,
  confirmationId: string,
  code: string | undefined,
): Decide {
  if (code === undefined) throw new Error('A confirmation without a code');
  return (tx, writeId) =>
    decideCode(tx, services.keys, {
      emr: ehr.id,
      confirmationId,
      // In the order of the request: the first id at fault decides the reason.
      ids: plan.steps.flatMap(({ confirms }) => confirms ?? []),
      waitingIds: changesOf(plan).flatMap(({ confirms }) => confirms ?? []),
      code,
      many: plan.many,
      writeId,
      liveTokens: services.liveTokens,
    });
}

/** What a plan takes of the budgets of its client. */
export function demandOf(plan: AppointmentPlan): { readonly held: number; readonly channels: readonly Channel[] } {
  return {
    held: plan.steps.filter(({ awaits }) => awaits?.kind === 'booking').length,
    channels: codeGroups(plan).flatMap(([first]) => first?.awaits.channel ?? []),
  };
}

interface Demand {
  readonly writeId?: string;
  readonly isResend?: boolean;
  readonly held: number;
  readonly channels: readonly Channel[];
}

/**
 * Takes the locks of several patients in a fixed order, to avoid deadlocks, and then that of the client.
 *
 * @throws Problem `patient_limit_reached`, `client_limit_reached`
 */
export async function assertAllWithinLimits(
  tx: Tx,
  { services, clientId, ehr, careUnit }: Proposal,
  patientIds: readonly string[],
  { writeId, isResend = false, held, channels }: Demand,
): Promise<void> {
  const patients = patientIds.map((id) => patientHashes(services.keys, ehr.id, id));
  for (const hashes of patients.toSorted(([a], [b]) => Buffer.compare(a, b))) {
    await assertWithinLimits(tx, { clientId, writeId, hashes, isResend }, careUnit.limitsPerPatient);
  }
  await assertWithinBudgets(tx, { clientId, writeId, held, channels }, services.budgetsOf(clientId));
}
