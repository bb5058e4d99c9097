import fc from 'fast-check';
import { comment, long, options, picks, resource, time } from '../inputs.ts';
import {
  addBooking,
  addCode,
  type Booking,
  bookingsOf,
  channelTo,
  isFree,
  type Model,
  original,
  overlap,
  type Resource,
  type Time,
} from '../model.ts';
import {
  type Fault,
  type Outcome,
  type Reason,
  rejection,
  rejectionFor,
  type Success,
  updateRejection,
  written,
} from '../outcome.ts';
import { outcomeWords, pickedMany, steps, write } from '../step.ts';
import { cancelEntry, cancelRejection } from './cancel.ts';
import { change } from './update.ts';

interface Wanted extends Time {
  readonly resource: Resource | undefined;
  readonly comment: string | undefined;
}

/**
 * Assigns the slots of the range to the ids: first ids that already have a slot, then the others by start. Remaining
 * slots are booked, remaining ids are cancelled.
 */
function reschedule(model: Model, ids: readonly string[], wanted: Wanted): Outcome {
  const rejectedUpdate = rejectionFor(updateFaults(model, ids));
  if (rejectedUpdate) return rejectedUpdate;
  const bookings = ids.map((id) => model.entries.get(id) as Booking).toSorted((a, b) => a.from - b.from);
  const [like] = bookings;
  if (!like) throw new Error('The reschedule has no ids');
  const { patient, service } = like;
  const target = wanted.resource ?? like.resource;
  const place = { resource: target, service, from: wanted.from, to: wanted.to };
  if (!isFree(model, place, ids)) return { ...rejection('time_slot_unavailable'), faults: [] };

  const range = Array.from({ length: wanted.to - wanted.from }, (_, index) => wanted.from + index);
  const isKeeper = ({ from, to }: Booking) => range.includes(from) && to === from + 1;
  const others = bookings.filter((booking) => !isKeeper(booking));
  const layout = range.map((slot) => ({
    time: { from: slot, to: slot + 1 },
    booking: bookings.find((booking) => isKeeper(booking) && booking.from === slot) ?? others.shift(),
  }));
  const created = layout.filter(({ booking }) => booking === undefined);
  const rejected = rejectionFor(extraFaults(model, others, { ...place, stays: like.resource === target }));
  if (rejected) return rejected;
  const needsCode = created.length > 0 && model.policy.bookingCode;
  if (needsCode && !channelTo(patient, 'booking')) return { ...rejection('no_contact_channel'), faults: [] };

  const bookingCode = needsCode ? addCode(model, 'booking', patient) : undefined;
  const placed = layout.map(({ booking, time: slot }): Success['shown'][number] => {
    if (booking) {
      return { id: booking.id, change: change(booking, { ...wanted, time: slot }) };
    }
    const comment = written(wanted.comment) ?? null;
    const made = addBooking(model, { patient, service, resource: target, ...slot, comment }, bookingCode);
    return { id: made.id, change: 'created', isNew: true };
  });
  const newCode = addCode(model, 'cancellation', patient);
  const cancelled = others.flatMap((extra) => cancelEntry(model, extra, undefined, () => newCode).shown);
  return { shown: [...placed, ...cancelled] };
}

function updateFaults(model: Model, ids: readonly string[]): Fault[] {
  const first = ids.flatMap((id) => model.entries.get(id) ?? []).map(original)[0];
  return ids.flatMap((id): Fault[] => {
    const reason = updateRejection(model, id) ?? differenceFrom(model, id, first);
    return reason ? [{ id, reason }] : [];
  });
}

function differenceFrom(model: Model, id: string, first: Booking | undefined): Reason | undefined {
  const entry = model.entries.get(id);
  const kind = (booking: Booking | undefined) => [booking?.patient, booking?.resource, booking?.service].join();
  return entry && kind(original(entry)) !== kind(first) ? 'appointments_not_alike' : undefined;
}

/** Errors of ids without a slot. An appointment that awaits a cancellation code still occupies its time. */
function extraFaults(model: Model, extras: readonly Booking[], range: Time & { stays: boolean }): Fault[] {
  return extras.flatMap((extra): Fault[] => {
    const blocksRange = model.policy.cancellationCode && range.stays && overlap(extra, range);
    const reason = blocksRange ? 'time_slot_unavailable' : cancelRejection(model, extra.id);
    return reason ? [{ id: extra.id, reason }] : [];
  });
}

/** Up to `most` ids with the same patient, resource and service. */
function alike(model: Model, ids: readonly string[], most: number): string[] {
  const first = ids.flatMap((id) => model.entries.get(id) ?? []).map(original)[0];
  const same = bookingsOf(model)
    .filter(({ state }) => state === 'booked')
    .filter(
      (it) =>
        first && [it.patient, it.resource, it.service].join() === [first.patient, first.resource, first.service].join(),
    )
    .map(({ id }) => id);
  return same.length > 0 ? same.slice(-most) : [...ids];
}

const input = fc.record({
  targets: picks('booked'),
  isAlike: fc.integer({ min: 0, max: 4 }).map((it) => it > 0),
  most: fc.integer({ min: 1, max: 4 }),
  range: time(long),
  resource: fc.option(resource, { nil: undefined }),
  comment,
  options,
});

export const reschedules = steps('reschedule', input, async (given, model, real) => {
  const { targets, isAlike, most, range, options: how } = given;
  const some = pickedMany(model, targets);
  const ids = isAlike ? alike(model, some, most) : some;
  const wanted = { ...range, resource: given.resource, comment: given.comment };
  const body = {
    ids: ids.map((id) => real.id(id)),
    ...real.range(range),
    resource_id: wanted.resource && real.place.resources[wanted.resource],
    comment: wanted.comment,
  };
  const outcome = await write(
    model,
    real,
    { method: 'PATCH', path: '/appointments', body, many: true, success: 200, options: how },
    (it) => reschedule(it, ids, wanted),
  );
  return `reschedule ${ids.join(', ')} ${JSON.stringify({ ...wanted, ...how })} ${outcomeWords(outcome)}`;
});
