import type { Answer } from '../idempotency/kept-write.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { type Fault, Problem, problemAt } from '../problems/problem.ts';
import { type Reason, reasons } from '../problems/reasons.ts';
import type { WritePlan } from '../writes/plan.ts';
import { planSameTimes } from './bulk-slot-plan.ts';
import type { BulkCancellationBody, BulkConfirmationBody, BulkUpdateBody } from './contract.ts';
import { freeSlotsFor } from './free-time.ts';
import { mergePlans } from './merge-plans.ts';
import { planCancellation, prepareCancellations } from './plan-cancellation.ts';
import { isConfirmable, planConfirmation } from './plan-confirmation.ts';
import { planUpdate, readUpdate, type WantedUpdate } from './plan-update.ts';
import type { Scene } from './scene.ts';
import { standingOf, updateRefusals } from './target-rules.ts';
import { findTargets, type Target } from './targets.ts';
import { slotFault } from './time-rules.ts';
import { carryOut, carryOutConfirmed, type Mode, namingFaults } from './write-appointments.ts';

/** Pure bulk update: each id keeps its time. All or nothing. */
export async function updateMany(
  scene: Scene,
  mode: Mode,
  body: BulkUpdateBody,
  readHeader: ReadHeader,
): Promise<Answer> {
  const wanted = await readUpdate(scene, body, readHeader);
  let targets: readonly Target[] = [];
  const write = () =>
    carryOut(scene, mode, async () => {
      targets = await requireTargets(scene, body.ids, async (found) => {
        const { resourceId } = wanted;
        return [
          ...refusals(found),
          ...(resourceId === undefined ? [] : await unavailableTimes(scene, found, resourceId)),
        ];
      });
      return mergePlans(
        targets.map((target) => planUpdate(target, wanted)),
        body.ids,
      );
    });
  return namingFaults(() => movingFaults(scene, targets, wanted), write);
}

/** Cancel many. All or nothing; one code for each patient where codes are needed. */
export function cancelMany(scene: Scene, mode: Mode, body: BulkCancellationBody): Promise<Answer> {
  return carryOut(scene, mode, async () => {
    const comment = body.comment === undefined ? undefined : body.comment || null;
    let plans: readonly WritePlan[] = [];
    await requireTargets(scene, body.ids, async (targets) => {
      const planned = await planCancellations(scene, targets, comment);
      plans = planned.plans;
      return planned.faults;
    });
    return mergePlans(withoutDoubles(plans, new Map()), body.ids);
  });
}

/** A plan for each of those that can be cancelled, and why the others cannot. */
export async function planCancellations(
  scene: Scene,
  targets: readonly Target[],
  comment: string | null | undefined,
): Promise<{ readonly plans: readonly WritePlan[]; readonly faults: readonly Fault[] }> {
  const prepared = await prepareCancellations(scene, targets);
  const faults: Fault[] = [];
  const plans: WritePlan[] = [];
  for (const target of targets) {
    try {
      plans.push(await planCancellation(scene, target, comment, prepared));
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      faults.push({ id: target.id, reason: error.reason, detail: error.detail });
    }
  }
  return { plans, faults };
}

/** An original and a view of it are the same cancellation: the second one answers as the first. */
function withoutDoubles(plans: readonly WritePlan[], started: Map<string, WritePlan>): WritePlan[] {
  return plans.map((plan) => {
    const original = plan.confirmations.flatMap(({ items }) => items).find((item) => 'original' in item);
    if (!original || !('original' in original)) return plan;
    const first = started.get(original.original.id);
    if (!first) {
      started.set(original.original.id, plan);
      return plan;
    }
    return { ...first, confirmations: [] };
  });
}

/** Confirm many, all of which await the same code. */
export async function confirmMany(scene: Scene, mode: Mode, body: BulkConfirmationBody): Promise<Answer> {
  if ('dryRun' in mode) throw noDryRun();
  const faultsOf = (found: readonly Target[]) => {
    const first = found.find(isConfirmable);
    return found.flatMap((target) => {
      if (!isConfirmable(target)) return [faultOf(target.id, 'confirmation_not_pending')];
      const isOther = target.item.confirmationId !== first?.item.confirmationId;
      return isOther ? [faultOf(target.id, 'confirmations_differ')] : [];
    });
  };
  const targets = await requireTargets(scene, body.ids, faultsOf, 'all');
  const waiting = targets.filter(isConfirmable);
  return carryOutConfirmed(
    scene,
    mode.write,
    { ...planConfirmation(scene, waiting, body.confirmation.code), many: true, requestedIds: body.ids },
    body.confirmation.code,
  );
}

export function noDryRun(): Problem {
  return problemAt({ in: 'query', parameter: 'dry_run' }, 'request_invalid', 'A confirmation has no dry run.');
}

/**
 * The targets of a bulk request.
 *
 * @throws Problem that names every id which the care unit does not have or `faultsOf` finds at fault, in their order
 */
export async function requireTargets(
  scene: Scene,
  ids: readonly string[],
  faultsOf: (found: readonly Target[]) => readonly Fault[] | Promise<readonly Fault[]>,
  codes?: 'all',
): Promise<readonly Target[]> {
  const known = await findTargets(scene, ids, codes);
  const targets = ids.flatMap((id) => known.get(id) ?? []);
  const faults = await faultsOf(targets);
  assertNoFaults(
    ids.flatMap((id, index) => {
      const here = known.has(id) ? faults.filter((fault) => fault.id === id) : [faultOf(id, 'appointment_not_found')];
      return here.map((fault) => ({ ...fault, place: place(index) }));
    }),
  );
  return targets;
}

/** Of those that cannot be updated: why. */
export function refusals(targets: readonly Target[]): Fault[] {
  return targets.flatMap((target) => {
    const reason = updateRefusals[standingOf(target)];
    return reason ? [faultOf(target.id, reason)] : [];
  });
}

/**
 * Any missing slot makes the answer `time_slot_unavailable`; otherwise the first faulty id decides. Every id at fault is
 * named.
 */
export function assertNoFaults(faults: readonly Fault[]): void {
  const decisive = faults.find(({ reason }) => reason === 'time_slot_unavailable') ?? faults[0];
  if (!decisive) return;
  const { reason, detail } = decisive;
  const { status } = reasons[reason];
  throw new Problem(reason, { detail, faults, status: status === 404 ? 400 : status });
}

async function unavailableTimes(scene: Scene, targets: readonly Target[], resourceId: string): Promise<Fault[]> {
  const { ehr, careUnit } = scene;
  const movable = targets.filter((target) => updateRefusals[standingOf(target)] === undefined);
  const freeing = movable.map(({ appointment }) => appointment.id);
  const moving = movable.filter(({ appointment }) => appointment.resourceId !== resourceId);
  const wanted = moving.map(({ appointment }) => ({ ...appointment, resourceId }));
  const slots = await freeSlotsFor(ehr, careUnit, wanted, freeing);
  const { faults } = planSameTimes({
    appointments: movable.map(({ id, appointment }) => ({
      id,
      start: appointment.start,
      end: appointment.end,
      healthcareServiceId: appointment.healthcareServiceId,
      standsOnTarget: appointment.resourceId === resourceId,
    })),
    slots,
  });
  return targets.flatMap(({ id, appointment }) =>
    faults.includes(id) ? [slotFault({ ...appointment, resourceId }, careUnit.timeZone, undefined, id)] : [],
  );
}

/** When the EHR finds out at the last moment that a time is gone, it does not say whose. */
function movingFaults({ careUnit }: Scene, targets: readonly Target[], { resourceId }: WantedUpdate): Fault[] {
  if (resourceId === undefined) return [];
  return targets.flatMap(({ id, appointment }, index) =>
    appointment.resourceId === resourceId
      ? []
      : [slotFault({ ...appointment, resourceId }, careUnit.timeZone, place(index), id)],
  );
}

function faultOf(id: string, reason: Reason): Fault {
  return { id, reason, detail: reasons[reason].happened };
}

function place(index: number) {
  return { in: 'body', pointer: `/ids/${index}` } as const;
}
