import fc from 'fast-check';
import { manner, pick, which } from '../inputs.ts';
import { type Entry, entriesOf, type Model } from '../model.ts';
import { codeOf, type Fault, notInPath, type Outcome, refused, refusedFor, type Success } from '../outcome.ts';
import { forReal, outcomeWords, picked, steps, write } from '../step.ts';

/** Applies a code to ids of one confirmation. An incorrect code counts as an attempt while any id awaits it. */
export function enterCode(model: Model, entries: readonly Entry[], isRight: boolean): Outcome {
  const code = entries[0]?.code;
  const isAwaited = code !== undefined && entriesOf(model).some((it) => it.code === code && it.waiting === 'pending');
  if (isAwaited && !isRight && code.attempts > 0) {
    code.attempts -= 1;
    return { ...refused('confirmation_code_incorrect'), attemptsRemaining: code.attempts };
  }
  const over = refusedFor(entries.flatMap((entry) => overFault(entry, isAwaited)));
  if (over) return over;
  const pending = entries.filter(({ waiting }) => waiting === 'pending');
  // Repeating the correct code changes nothing.
  if (pending.length === 0 && !isRight) {
    return refusedFor(entries.map(({ id }) => ({ id, reason: 'confirmation_not_pending' }))) as Outcome;
  }
  for (const entry of pending) confirmEntry(entry);
  return success(entries);
}

/** A locked confirmation stays locked, even after it expires. */
function overFault({ id, waiting, code }: Entry, isAwaited: boolean): Fault[] {
  const hasWaited = waiting === 'pending' || waiting === 'expired';
  const isLocked = code?.attempts === 0 && (hasWaited || (waiting === 'confirmed' && isAwaited));
  if (isLocked) return [{ id, reason: 'confirmation_locked' }];
  if (waiting === 'expired') return [{ id, reason: 'confirmation_expired' }];
  return waiting === 'released' ? [{ id, reason: 'confirmation_not_pending' }] : [];
}

function confirmEntry(entry: Entry): void {
  entry.waiting = 'confirmed';
  if (entry.kind === 'booking') {
    entry.state = 'booked';
    return;
  }
  entry.of.state = 'cancelled';
  if (entry.comment !== undefined) entry.of.comment = entry.comment;
}

function success(entries: readonly Entry[]): Success {
  return { shown: entries.map(({ id }) => ({ id, change: 'updated' })) };
}

function confirm(model: Model, id: string, isRight: boolean): Outcome {
  const entry = model.entries.get(id);
  if (!entry) return notInPath;
  if (!entry.code) return refused('confirmation_not_pending');
  const outcome = enterCode(model, [entry], isRight);
  if (!('reason' in outcome)) return outcome;
  const { faults: _unnamed, ...refusal } = outcome;
  return refusal;
}

const input = fc.record({ target: pick('awaiting_confirmation', 'awaiting_confirmation', 'all'), which, manner });

export const confirmations = steps('confirm', input, async ({ target, which: kind, manner: how }, model, real) => {
  const id = picked(model, target);
  const { text, isRight } = await real.code(model, codeOf(model, id), kind);
  const outcome = await write(
    model,
    real,
    {
      method: 'PATCH',
      path: `/appointments/${real.id(id)}`,
      body: { confirmation: { code: text } },
      success: 200,
      manner: forReal(how),
    },
    (it) => confirm(it, id, isRight),
  );
  return `confirm ${id} with ${isRight ? 'the right' : `a ${kind}`} code ${outcomeWords(outcome)}`;
});

/** Reads the correct code now, so that tests can use it after expiry or cancellation. */
export const lookups = steps('read the code of', pick('awaiting_confirmation'), async (target, model, real) => {
  const id = picked(model, target);
  await real.code(model, codeOf(model, id), 'right');
  return `read the code of ${id}`;
});
