import fc from 'fast-check';
import { comment, options, pick, resource, short, time } from '../inputs.ts';
import { type Booking, isFree, type Model, type Resource, type Time } from '../model.ts';
import { notInPath, type Outcome, rejection, type ShownChange, shown, updateRejection, written } from '../outcome.ts';
import { outcomeWords, picked, steps, write } from '../step.ts';

export interface Wanted {
  readonly time?: Time | undefined;
  readonly resource?: Resource | undefined;
  readonly comment?: string | undefined;
}

/** Changes only the given fields. The appointment's own time counts as free. Never needs a code. */
function update(model: Model, id: string, wanted: Wanted): Outcome {
  const entry = model.entries.get(id);
  if (!entry) return notInPath;
  const rejected = updateRejection(model, id);
  if (rejected) return rejection(rejected);
  const booking = entry as Booking;
  const place = { ...booking, ...wanted.time, resource: wanted.resource ?? booking.resource };
  if ((wanted.time || wanted.resource) && !isFree(model, place, [id])) return rejection('time_slot_unavailable');
  return shown(id, change(booking, wanted));
}

/** Updates a booked appointment in the model and returns the result. */
export function change(booking: Booking, { time: to, resource: target, comment: text }: Wanted): ShownChange {
  const before = { ...booking };
  if (to) Object.assign(booking, to);
  if (target) booking.resource = target;
  const comment = written(text);
  if (comment !== undefined) booking.comment = comment;
  if (before.from !== booking.from || before.to !== booking.to || before.resource !== booking.resource) return 'moved';
  return before.comment === booking.comment ? 'kept' : 'updated';
}

const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const input = fc.record({
  target: pick('booked'),
  wanted: fc
    .record({ time: optional(time(short)), resource: optional(resource), comment })
    .filter((wanted) => Object.values(wanted).some((value) => value !== undefined)),
  options,
});

export const updates = steps('update', input, async ({ target, wanted, options: how }, model, real) => {
  const id = picked(model, target);
  const body = {
    ...(wanted.time ? real.range(wanted.time) : {}),
    resource_id: wanted.resource && real.place.resources[wanted.resource],
    comment: wanted.comment,
  };
  const outcome = await write(
    model,
    real,
    { method: 'PATCH', path: `/appointments/${real.id(id)}`, body, success: 200, options: how },
    (it) => update(it, id, wanted),
  );
  return `update ${id} ${JSON.stringify({ ...wanted, ...how })} ${outcomeWords(outcome)}`;
});
