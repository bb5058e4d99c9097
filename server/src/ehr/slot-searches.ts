import type { TimeSlot, TimeSlotQuery } from '@crossward/connector-kit';
import { currentContext } from '../context/work-context.ts';

type TimeSlots = readonly TimeSlot[];

/** Calls the EHR when the current caller gets its turn. */
type Run = (call: () => Promise<TimeSlots>) => Promise<TimeSlots>;

/** Searches for free time slots that share calls to one EHR. */
export interface SlotSearches {
  /** @throws what `run` and `call` throw. An error goes to all callers that wait for the call. */
  find(query: TimeSlotQuery, call: () => Promise<TimeSlots>): Promise<TimeSlots>;
  /** Call it after each write. Later searches then do not share a call that may be older than the write. */
  forget(): void;
}

/**
 * Identical searches share a call that the EHR is processing. A caller does not wait in the queue of another client: that
 * one may have to wait longer. So a search that is still queued is shared within its client only.
 *
 * Callers must have access to the care unit of their query. A caller that disconnects does not end the call.
 */
export function createSlotSearches(run: Run): SlotSearches {
  /** Calls that the EHR is processing. Replaced after each write. */
  let running = new Map<string, Promise<TimeSlots>>();
  const queued = new Map<string, Promise<TimeSlots>>();

  function ask(key: string, call: () => Promise<TimeSlots>): Promise<TimeSlots> {
    const place = JSON.stringify([currentContext().clientId, key]);
    const known = running.get(key) ?? queued.get(place);
    if (known) return known;
    const { promise, resolve, reject } = Promise.withResolvers<TimeSlots>();
    let begunIn: typeof running | undefined;
    queued.set(place, promise);
    const begin = () => {
      queued.delete(place);
      const other = running.get(key);
      if (other) return other;
      begunIn = running;
      // Not the promise of the call itself, which does not end at the time-out.
      running.set(key, promise);
      return call();
    };
    const ended = () => {
      if (queued.get(place) === promise) queued.delete(place);
      begunIn?.delete(key);
    };
    run(begin).then(
      (slots) => {
        ended();
        resolve(slots);
      },
      (error) => {
        ended();
        reject(error);
      },
    );
    return promise;
  }

  return {
    find: (query, call) => ask(keyOf(query), call),
    forget() {
      running = new Map();
    },
  };
}

function keyOf({ careUnit, ...query }: TimeSlotQuery) {
  const { start, end, resourceIds, healthcareServiceIds, freeing, patientId, forAppointment, after, limit } = query;
  const patient = [freeing, patientId, forAppointment];
  // An EHR that wants to know the person must not be told of another one.
  const user = currentContext().user?.id;
  return JSON.stringify([careUnit.id, start, end, resourceIds, healthcareServiceIds, patient, after, limit, user]);
}
