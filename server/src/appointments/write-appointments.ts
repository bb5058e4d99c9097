import { decideCode, decideRelease } from '../confirmations/decide.ts';
import { assertWithinLimits, patientHashes } from '../confirmations/limits.ts';
import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import type { Answer, KeptWrite } from '../idempotency/kept-write.ts';
import { type Fault, Problem } from '../problems/problem.ts';
import { planPreview } from '../writes/answer.ts';
import { isWhole, knowsOperations } from '../writes/ehr-changes.ts';
import { perform } from '../writes/perform.ts';
import type { WritePlan } from '../writes/plan.ts';
import { areFree, isFree } from './free-time.ts';
import type { Scene } from './scene.ts';

/** How an operation is carried out: for real under a write, or only looked at. */
export type Mode = { readonly write: KeptWrite } | { readonly dryRun: true };

/** Carries out what `plan` decides. */
export async function carryOut(scene: Scene, mode: Mode, plan: () => Promise<WritePlan>): Promise<Answer> {
  if ('dryRun' in mode) return dryRun(scene, await plan());
  const planned = await plan();
  await assertDraftsAreFree(scene, planned);
  const { ehr } = scene;
  const { releasing = [] } = planned;
  const decide = releasing.length > 0 ? (tx: Tx) => decideRelease(tx, ehr.id, releasing) : undefined;
  return perform({ ...scene, write: mode.write }, planned, decide);
}

/** Carries out what a right code stands for. */
export function carryOutConfirmed(scene: Scene, write: KeptWrite, plan: WritePlan, code: string): Promise<Answer> {
  const { confirming } = plan;
  if (!confirming) throw new Error('A plan that confirms nothing was sent a code');
  const { services, ehr } = scene;
  // In the order of the request: the first faulty one decides.
  const ids = plan.answer.flatMap(({ id }) => id ?? []);
  const operation = {
    id: plan.ehrOperationId ?? write.operationId,
    ids: plan.answer.flatMap(({ id, from }) => ('change' in from ? (id ?? []) : [])),
    // What goes one by one may be undone under the feet of a second request.
    isRepeatable: knowsOperations(ehr) && isWhole(ehr, plan.changes),
  };
  return perform({ ...scene, write }, plan, (tx) =>
    decideCode(tx, services.keys, { emr: ehr.id, ...confirming, ids, code, many: plan.many, operation }),
  );
}

/** Checks everything, changes nothing, sends nothing. */
async function dryRun(scene: Scene, plan: WritePlan): Promise<Answer> {
  const { services, ehr, careUnit } = scene;
  await assertDraftsAreFree(scene, plan);
  if (plan.viaEhr?.kind === 'request booking' && !(await isFree(ehr, careUnit, plan.viaEhr.creation))) {
    throw new Problem('time_slot_unavailable');
  }
  const freeing = plan.changes.flatMap((change) => (change.kind === 'create' ? [] : [change.appointmentId]));
  const taking = plan.answer.filter(({ from, word }) => 'change' in from && (word === 'created' || word === 'moved'));
  const times = taking.map(({ preview }) => preview);
  if (!(await areFree(ehr, careUnit, times, freeing))) throw new Problem('time_slot_unavailable');
  // One patient at a time: whoever holds the locks of several has to take them in the order that writes do.
  for (const { patientId } of plan.confirmations) {
    const hashes = patientHashes(services.keys, ehr.id, patientId);
    await retrySerialization(() =>
      services.db.transaction().execute((tx) => assertWithinLimits(tx, hashes, careUnit.limitsPerPatient)),
    );
  }
  return planPreview(scene, plan);
}

/** What the EHR is not told of yet, it cannot refuse yet either. */
async function assertDraftsAreFree({ ehr, careUnit }: Scene, plan: WritePlan): Promise<void> {
  const items = plan.confirmations.flatMap((confirmation) => confirmation.items);
  const drafts = items.flatMap((item) => ('draft' in item ? item.draft : []));
  if (!(await areFree(ehr, careUnit, drafts))) throw new Problem('time_slot_unavailable');
}

/** Runs a write, and says of a time that is not free which one it was and where it was asked for. */
export async function namingFaults<Result>(
  faults: () => readonly Fault[],
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'time_slot_unavailable' || error.faults.length > 0) throw error;
    const named = faults();
    throw new Problem('time_slot_unavailable', { detail: named[0]?.detail, faults: named, cause: error.cause });
  }
}
