import type { Appointment } from '@crossward/connector-kit';
import { Problem } from '../problems/problem.ts';
import type { PlannedConfirmation, WritePlan } from '../writes/plan.ts';

import { severalCodes } from './plan-creation.ts';

/**
 * Several plans as one: all of their changes or none, and one code for what they make for one patient. The answers follow
 * each other in the order of the plans.
 */
export function mergePlans(plans: readonly WritePlan[], requestedIds: readonly string[]): WritePlan {
  const viaEhr = plans.find((plan) => plan.viaEhr);
  if (viaEhr && plans.length > 1) throw new Problem('operation_unsupported', { detail: severalCodes });
  if (viaEhr) return { ...viaEhr, many: true, requestedIds };
  const changes: WritePlan['changes'][number][] = [];
  const confirmations = new Map<string, PlannedConfirmation>();
  const before: Appointment[] = [];
  const releasing: string[] = [];
  const answer: WritePlan['answer'][number][] = [];
  for (const plan of plans) {
    const offset = changes.length;
    changes.push(...plan.changes);
    before.push(...(plan.before ?? []));
    releasing.push(...(plan.releasing ?? []));
    for (const confirmation of plan.confirmations) {
      const key = JSON.stringify([confirmation.kind, confirmation.patientId]);
      const items = confirmation.items.map((item) => ('change' in item ? { change: item.change + offset } : item));
      confirmations.set(key, { ...confirmation, items: [...(confirmations.get(key)?.items ?? []), ...items] });
    }
    for (const entry of plan.answer) {
      answer.push('change' in entry.from ? { ...entry, from: { change: entry.from.change + offset } } : entry);
    }
  }
  return { changes, before, confirmations: [...confirmations.values()], releasing, answer, many: true, requestedIds };
}
