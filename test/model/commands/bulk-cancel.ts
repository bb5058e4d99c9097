import fc from 'fast-check';
import { comment, options, picks } from '../inputs.ts';
import { addCode, type Booking, type Code, entriesOf, type Model } from '../model.ts';
import { type Outcome, rejectionFor } from '../outcome.ts';
import { outcomeWords, pickedMany, steps, write } from '../step.ts';
import { cancelEntry, cancelRejection } from './cancel.ts';

/** All or nothing. One code per patient. */
function cancelMany(model: Model, ids: readonly string[], text: string | undefined): Outcome {
  const faults = ids.flatMap((id) => {
    const reason = cancelRejection(model, id);
    return reason ? [{ id, reason }] : [];
  });
  const rejected = rejectionFor(faults);
  if (rejected) return rejected;
  const existed = new Set(entriesOf(model).map(({ id }) => id));
  const codes = new Map<string, Code>();
  const codeFor = ({ patient }: Booking) => {
    const code = codes.get(patient) ?? addCode(model, 'cancellation', patient);
    codes.set(patient, code);
    return code;
  };
  const outcomes = ids.map((id) => {
    const entry = model.entries.get(id);
    if (!entry) throw new Error(`The model has no ${id}`);
    return cancelEntry(model, entry, text, codeFor);
  });
  // An appointment and its pending cancellation are cancelled once, but listed twice.
  return {
    shown: outcomes.flatMap((outcome) =>
      outcome.shown.map((entry) => (existed.has(entry.id) ? entry : { ...entry, change: 'cancelled', isNew: true })),
    ),
  };
}

const input = fc.record({ targets: picks('booked', 'booked', 'awaiting_confirmation', 'views'), comment, options });

export const bulkCancellations = steps('cancel many', input, async (given, model, real) => {
  const { targets, comment: text, options: how } = given;
  const ids = pickedMany(model, targets);
  const body = { ids: ids.map((id) => real.id(id)), status: 'cancelled', comment: text };
  const outcome = await write(
    model,
    real,
    { method: 'PATCH', path: '/appointments', body, many: true, success: 200, options: how },
    (it) => cancelMany(it, ids, text),
  );
  return `cancel ${ids.join(', ')} ${JSON.stringify({ comment: text, ...how })} ${outcomeWords(outcome)}`;
});
