import fc from 'fast-check';
import { comment, options, patient, resource, service, short, time } from '../inputs.ts';
import { addBooking, addCode, channelTo, isFree, type Model, type Patient, type Place } from '../model.ts';
import { type Outcome, rejection, shown, written } from '../outcome.ts';
import { outcomeWords, steps, write } from '../step.ts';

interface Wish extends Place {
  readonly patient: Patient;
  readonly comment: string | undefined;
}

/** The EHR books directly, or holds the time until the code is confirmed. */
function create(model: Model, wish: Wish): Outcome {
  const needsCode = model.policy.bookingCode;
  if (needsCode && !channelTo(wish.patient, 'booking')) return rejection('no_contact_channel');
  if (!isFree(model, wish)) return rejection('time_slot_unavailable');
  const code = needsCode ? addCode(model, 'booking', wish.patient) : undefined;
  const { id } = addBooking(model, { ...wish, comment: written(wish.comment) ?? null }, code);
  return shown(id, 'created', true);
}

const input = fc.record({ patient, resource, service, time: time(short), comment, options });

export const creations = steps('create', input, async (given, model, real) => {
  const { time: range, options: how, ...wish } = given;
  const body = {
    patient_id: wish.patient,
    resource_id: real.place.resources[wish.resource],
    healthcare_service_id: wish.service,
    start_time: real.local(range.from),
    end_time: real.local(range.to),
    comment: wish.comment,
  };
  const outcome = await write(
    model,
    real,
    { method: 'POST', path: '/appointments', body, success: 201, options: how },
    (it) => create(it, { ...wish, ...range }),
  );
  return `create ${JSON.stringify({ ...wish, ...range, ...how })} ${outcomeWords(outcome)}`;
});
