import fc from 'fast-check';
import { comment, options, picks, resource } from '../inputs.ts';
import { type Booking, isFree, type Model, overlap, type Resource } from '../model.ts';
import { type Fault, type Outcome, rejectionFor, updateRejection } from '../outcome.ts';
import { outcomeWords, pickedMany, steps, write } from '../step.ts';
import { change, type Wanted } from './update.ts';

type WantedOfMany = Pick<Wanted, 'resource' | 'comment'>;

/** Each keeps its time. All or nothing. If two want the same time, the error names the later one. */
function updateMany(model: Model, ids: readonly string[], wanted: WantedOfMany): Outcome {
  const movable = ids.filter((id) => updateRejection(model, id) === undefined);
  const gone = wanted.resource ? withoutSlot(model, movable, wanted.resource) : [];
  const faults = ids.flatMap((id): Fault[] => {
    const reason = gone.includes(id) ? 'time_slot_unavailable' : updateRejection(model, id);
    return reason ? [{ id, reason }] : [];
  });
  const rejected = rejectionFor(faults);
  if (rejected) return rejected;
  return { shown: ids.map((id) => ({ id, change: change(model.entries.get(id) as Booking, wanted) })) };
}

function withoutSlot(model: Model, ids: readonly string[], target: Resource): string[] {
  const placed: Booking[] = [];
  return ids.filter((id) => {
    const booking = model.entries.get(id) as Booking;
    const fits =
      isFree(model, { ...booking, resource: target }, ids) && !placed.some((other) => overlap(other, booking));
    if (fits) placed.push(booking);
    return !fits;
  });
}

const input = fc.record({
  targets: picks('booked'),
  wanted: fc
    .record({ resource: fc.option(resource, { nil: undefined, freq: 5 }), comment })
    .filter((wanted) => wanted.resource !== undefined || wanted.comment !== undefined),
  options,
});

export const bulkUpdates = steps('update many', input, async ({ targets, wanted, options: how }, model, real) => {
  const ids = pickedMany(model, targets);
  const body = {
    ids: ids.map((id) => real.id(id)),
    resource_id: wanted.resource && real.place.resources[wanted.resource],
    comment: wanted.comment,
  };
  const outcome = await write(
    model,
    real,
    { method: 'PATCH', path: '/appointments', body, many: true, success: 200, options: how },
    (it) => updateMany(it, ids, wanted),
  );
  return `update ${ids.join(', ')} ${JSON.stringify({ ...wanted, ...how })} ${outcomeWords(outcome)}`;
});
