import type { Item } from '../confirmations/items.ts';
import { Problem } from '../problems/problem.ts';
import { itemContext } from '../writes/commit.ts';
import { partId } from '../writes/ehr-write.ts';
import type { PlannedChange, WritePlan } from '../writes/plan.ts';
import { draftOf } from './drafts.ts';
import type { Scene } from './scene.ts';
import type { Target } from './targets.ts';

type Confirmable = Target & { readonly item: Item };

/** Whether this client ever had a code sent for this id. What others started is none that it could confirm. */
export function isConfirmable({ client }: Pick<Scene, 'client'>, target: Target): target is Confirmable {
  return target.item?.clientId === client.id;
}

/**
 * What the EHR has to do when the code of these ids is right. All of them wait for the same one. What it has confirmed
 * already is answered as it is by now.
 */
export function planConfirmation(scene: Scene, targets: readonly Confirmable[], code: string): WritePlan {
  const [first] = targets;
  if (!first) throw new Problem('confirmation_not_pending');
  const { confirmationId, ehrReference, timesUndone } = first.item;
  const done = ehrReference === null ? targets.filter(isDone) : [];
  // Always in the same order: the EHR answers a repetition in that of the first time.
  const waiting = targets.filter((target) => !done.includes(target)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const waitingIds = waiting.map(({ id }) => id);
  return {
    ...(ehrReference === null
      ? { changes: waiting.map((target) => confirmingChange(scene, target)) }
      : { changes: [], viaEhr: { kind: 'confirm', reference: ehrReference, code } }),
    before: waiting.map(({ appointment }) => appointment),
    confirmations: [],
    confirming: { confirmationId, ids: targets.map(({ id }) => id), timesUndone },
    // Two requests with the right code are one and the same change to the EHR, until it has been undone.
    ehrOperationId: partId(
      confirmationId,
      [...(timesUndone === 0 ? [] : [timesUndone]), ...waitingIds, ...(ehrReference === null ? [] : [code])].join(' '),
    ),
    answer: targets.map((target) => ({
      from: done.includes(target) ? { appointment: target.appointment } : { change: waiting.indexOf(target) },
      id: target.id,
      replacesId: target.item.replacesId ?? undefined,
      word: 'updated',
      preview: target.appointment,
    })),
    many: false,
  };
}

/** What was still held when it was asked for is not known to be booked yet. */
function isDone({ item, appointment }: Confirmable): boolean {
  return item.state === 'confirmed' && appointment.state !== 'held';
}

function confirmingChange({ services, ehr }: Scene, { kind, id, appointment, item }: Confirmable): PlannedChange {
  if (kind === 'draft') return draftOf(services.keys, ehr.id, item);
  if (kind === 'appointment') return { kind: 'confirm', appointmentId: appointment.id };
  const comment = item.sealedComment && services.keys.open('confirmation', item.sealedComment, itemContext(ehr.id, id));
  return { kind: 'cancel', appointmentId: appointment.id, comment: comment ? JSON.parse(comment) : undefined };
}
