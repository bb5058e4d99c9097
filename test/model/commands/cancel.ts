import fc from 'fast-check';
import { comment, options, pick } from '../inputs.ts';
import { addCode, addView, type Booking, type Code, channelTo, type Entry, type Model, pendingView } from '../model.ts';
import { notInPath, type Outcome, type Reason, rejection, type Success, shown, written } from '../outcome.ts';
import { outcomeWords, picked, steps, write } from '../step.ts';

/** The reason why an appointment cannot be cancelled. */
export function cancelRejection(model: Model, id: string): Reason | undefined {
  const entry = model.entries.get(id);
  if (!entry) return 'appointment_not_found';
  const booking = startsCancellation(model, entry);
  return booking && !channelTo(booking.patient, 'cancellation') ? 'no_contact_channel' : undefined;
}

/** Appointments that need a two-step cancellation without a pending one. */
function startsCancellation(model: Model, entry: Entry): Booking | undefined {
  const booking = entry.kind === 'view' ? entry.of : entry;
  const isFirst = booking.state === 'booked' && model.policy.cancellationCode && !pendingView(model, booking);
  return isFirst ? booking : undefined;
}

/**
 * Cancels appointments, with a code from `codeFor` if needed. A hold is released. A cancelled appointment is not changed.
 * A second cancellation returns the id of the first.
 */
export function cancelEntry(
  model: Model,
  entry: Entry,
  comment: string | undefined,
  codeFor: (booking: Booking) => Code,
): Success {
  const booking = entry.kind === 'view' ? entry.of : entry;
  const first = startsCancellation(model, entry);
  if (first) return shown(addView(model, first, codeFor(first), written(comment)).id, 'cancelled', true);
  if (booking.state === 'cancelled') return shown(entry.id, 'kept');
  if (booking.state === 'booked' && model.policy.cancellationCode) {
    return shown(pendingView(model, booking)?.id ?? '', 'kept');
  }
  if (booking.state === 'held') booking.waiting = 'released';
  booking.state = 'cancelled';
  const text = written(comment);
  if (text !== undefined) booking.comment = text;
  return shown(entry.id, 'cancelled');
}

function cancel(model: Model, id: string, text: string | undefined): Outcome {
  const entry = model.entries.get(id);
  if (!entry) return notInPath;
  const rejected = cancelRejection(model, id);
  if (rejected) return rejection(rejected);
  return cancelEntry(model, entry, text, ({ patient }) => addCode(model, 'cancellation', patient));
}

const input = fc.record({ target: pick('booked', 'booked', 'awaiting_confirmation', 'views'), comment, options });

export const cancellations = steps('cancel', input, async ({ target, comment: text, options: how }, model, real) => {
  const id = picked(model, target);
  const body = { status: 'cancelled', comment: text };
  const outcome = await write(
    model,
    real,
    { method: 'PATCH', path: `/appointments/${real.id(id)}`, body, success: 200, options: how },
    (it) => cancel(it, id, text),
  );
  return `cancel ${id} ${JSON.stringify({ comment: text, ...how })} ${outcomeWords(outcome)}`;
});
