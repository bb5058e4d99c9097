import type { Item } from '../confirmations/items.ts';
import { Problem } from '../problems/problem.ts';
import { itemContext } from '../writes/commit.ts';
import { partId } from '../writes/ehr-changes.ts';
import type { PlannedChange, WritePlan } from '../writes/plan.ts';
import { draftOf } from './drafts.ts';
import type { Scene } from './scene.ts';
import type { Target } from './targets.ts';

type Confirmable = Target & { readonly item: Item };

/** Whether a code was ever awaited under this id. */
export function isConfirmable(target: Target): target is Confirmable {
  return target.item !== undefined;
}

/** What the EHR has to do when the code of these ids is right. All of them wait for the same one. */
export function planConfirmation(scene: Scene, targets: readonly Confirmable[], code: string): WritePlan {
  const [first] = targets;
  if (!first) throw new Problem('confirmation_not_pending');
  const { confirmationId, ehrReference } = first.item;
  const ids = targets.map((target) => target.id);
  return {
    ...(ehrReference === null
      ? { changes: targets.map((target) => confirmingChange(scene, target)) }
      : { changes: [], viaEhr: { kind: 'confirm', reference: ehrReference, code } }),
    confirmations: [],
    confirming: { confirmationId, ids },
    // Two requests with the right code are one and the same change to the EHR.
    ehrOperationId: partId(confirmationId, [...ids.toSorted(), ...(ehrReference === null ? [] : [code])].join(' ')),
    answer: targets.map((target, change) => ({
      from: { change },
      id: target.id,
      replacesId: target.item.replacesId ?? undefined,
      word: 'updated',
      preview: target.appointment,
    })),
    many: false,
  };
}

function confirmingChange({ services, ehr }: Scene, { kind, id, appointment, item }: Confirmable): PlannedChange {
  if (kind === 'draft') return draftOf(services.keys, ehr.id, item);
  if (kind === 'appointment') return { kind: 'confirm', appointmentId: appointment.id };
  const comment = item.sealedComment && services.keys.open('confirmation', item.sealedComment, itemContext(ehr.id, id));
  return { kind: 'cancel', appointmentId: appointment.id, comment: comment ? JSON.parse(comment) : undefined };
}
