import fc from 'fast-check';
import { options, picks, which } from '../inputs.ts';
import { type Entry, entriesOf, type Model } from '../model.ts';
import { codeOf, type Fault, type Outcome, rejectionFor } from '../outcome.ts';
import { outcomeWords, pickedMany, steps, withoutDryRun, write } from '../step.ts';
import { enterCode } from './confirm.ts';

/** All ids must await the same code. */
function confirmMany(model: Model, ids: readonly string[], isCorrect: boolean): Outcome {
  const first = ids.map((id) => codeOf(model, id)).find((code) => code !== undefined);
  const faults = ids.flatMap((id): Fault[] => {
    if (!model.entries.has(id)) return [{ id, reason: 'appointment_not_found' }];
    const code = codeOf(model, id);
    if (!code) return [{ id, reason: 'confirmation_not_pending' }];
    return code === first ? [] : [{ id, reason: 'confirmations_differ' }];
  });
  return rejectionFor(faults) ?? enterCode(model, entries(model, ids), isCorrect);
}

function entries(model: Model, ids: readonly string[]): Entry[] {
  return ids.flatMap((id) => model.entries.get(id) ?? []);
}

/** The ids that await the same code, except the one at `skip`. */
function withSameCode(model: Model, ids: readonly string[], skip: number): string[] {
  const code = ids.map((id) => codeOf(model, id)).find((it) => it !== undefined);
  const members = entriesOf(model)
    .filter((entry) => code && entry.code === code)
    .map(({ id }) => id);
  if (members.length > 1 && skip < members.length) members.splice(skip, 1);
  return members.length > 0 ? members : [...ids];
}

const input = fc.record({
  targets: picks('awaiting_confirmation', 'all'),
  isTogether: fc.integer({ min: 0, max: 3 }).map((it) => it > 0),
  skip: fc.nat({ max: 5 }),
  which,
  options,
});

export const bulkConfirmations = steps('confirm many', input, async (given, model, real) => {
  const { targets, isTogether, skip, which: kind, options: how } = given;
  const some = pickedMany(model, targets);
  const ids = isTogether ? withSameCode(model, some, skip) : some;
  const code = ids.map((id) => codeOf(model, id)).find((it) => it !== undefined);
  const { text, isCorrect } = await real.code(model, code, kind);
  const outcome = await write(
    model,
    real,
    {
      method: 'PATCH',
      path: '/appointments',
      body: { ids: ids.map((id) => real.id(id)), confirmation: { code: text } },
      many: true,
      success: 200,
      options: withoutDryRun(how),
    },
    (it) => confirmMany(it, ids, isCorrect),
  );
  return `confirm ${ids.join(', ')} with code: ${isCorrect ? 'correct' : kind} ${outcomeWords(outcome)}`;
});
