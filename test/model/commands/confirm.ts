import fc from 'fast-check';
import { options, pick, which } from '../inputs.ts';
import { type Entry, entriesOf, type Model } from '../model.ts';
import { codeOf, type Fault, notInPath, type Outcome, rejection, rejectionFor, type Success } from '../outcome.ts';
import { outcomeWords, picked, steps, withoutDryRun, write } from '../step.ts';

/** Applies a code to ids of one confirmation. An incorrect code counts as an attempt while any id awaits it. */
export function enterCode(model: Model, entries: readonly Entry[], isCorrect: boolean): Outcome {
  const code = entries[0]?.code;
  const isAwaited = code !== undefined && entriesOf(model).some((it) => it.code === code && it.waiting === 'pending');
  if (isAwaited && !isCorrect && code.attempts > 0) {
    code.attempts -= 1;
    return { ...rejection('confirmation_code_incorrect'), attemptsRemaining: code.attempts };
  }
  const rejected = rejectionFor(entries.flatMap((entry) => closedFault(entry, isAwaited)));
  if (rejected) return rejected;
  const pending = entries.filter(({ waiting }) => waiting === 'pending');
  // Repeating the correct code changes nothing.
  if (pending.length === 0 && !isCorrect) {
    return rejectionFor(entries.map(({ id }) => ({ id, reason: 'confirmation_not_pending' }))) as Outcome;
  }
  for (const entry of pending) confirmEntry(entry);
  return success(entries);
}

/** The error of a locked, expired or released confirmation. A locked one stays locked after it expires. */
function closedFault({ id, waiting, code }: Entry, isAwaited: boolean): Fault[] {
  const isUnconfirmed = waiting === 'pending' || waiting === 'expired';
  const isLocked = code?.attempts === 0 && (isUnconfirmed || (waiting === 'confirmed' && isAwaited));
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

function confirm(model: Model, id: string, isCorrect: boolean): Outcome {
  const entry = model.entries.get(id);
  if (!entry) return notInPath;
  if (!entry.code) return rejection('confirmation_not_pending');
  const outcome = enterCode(model, [entry], isCorrect);
  if (!('reason' in outcome)) return outcome;
  const { faults: _unnamed, ...rejected } = outcome;
  return rejected;
}

const input = fc.record({ target: pick('awaiting_confirmation', 'awaiting_confirmation', 'all'), which, options });

export const confirmations = steps('confirm', input, async ({ target, which: kind, options: how }, model, real) => {
  const id = picked(model, target);
  const { text, isCorrect } = await real.code(model, codeOf(model, id), kind);
  const outcome = await write(
    model,
    real,
    {
      method: 'PATCH',
      path: `/appointments/${real.id(id)}`,
      body: { confirmation: { code: text } },
      success: 200,
      options: withoutDryRun(how),
    },
    (it) => confirm(it, id, isCorrect),
  );
  return `confirm ${id} with code: ${isCorrect ? 'correct' : kind} ${outcomeWords(outcome)}`;
});

/** Reads the correct code now, so that tests can use it after expiry or cancellation. */
export const lookups = steps('read the code of', pick('awaiting_confirmation'), async (target, model, real) => {
  const id = picked(model, target);
  await real.code(model, codeOf(model, id), 'correct');
  return `read the code of ${id}`;
});
