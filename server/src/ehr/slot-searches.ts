import type { TimeSlot, TimeSlotQuery } from '@crossward/connector-kit';
import { LruMap } from 'toad-cache';
import { currentContext } from '../context/work-context.ts';

type TimeSlots = readonly TimeSlot[];

/** Maximum number of results that are kept for reuse. A result has at most 501 time slots. */
const mostKept = 200;

interface Options {
  /** Milliseconds for which a result is reused while it is refreshed. 0: it is not reused. */
  readonly staleMs: number;
  /** Calls the EHR when the current caller gets its turn. */
  run(call: () => Promise<TimeSlots>): Promise<TimeSlots>;
}

/** Searches for free time slots that share calls to one EHR. */
export interface SlotSearches {
  /** @throws what `run` and `call` throw. An error goes to all callers that wait for the call, and is not kept. */
  find(query: TimeSlotQuery, call: () => Promise<TimeSlots>): Promise<TimeSlots>;
  /** Call it after each write. Later searches then do not get a result that may be older than the write. */
  forget(): void;
}

/**
 * Identical searches share a call that the EHR is processing. A caller does not wait in the queue of another client: that
 * one may have to wait longer. So a search that is still queued is shared within its client only.
 *
 * Callers must have access to the care unit of their query. A caller that disconnects does not end the call.
 */
export function createSlotSearches({ staleMs, run }: Options): SlotSearches {
  /** Calls that the EHR is processing. Replaced after each write. */
  let running = new Map<string, Promise<TimeSlots>>();
  const queued = new Map<string, Promise<TimeSlots>>();
  const kept = new LruMap<TimeSlots>(mostKept, staleMs);

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
        if (staleMs > 0 && begunIn === running) kept.set(key, slots);
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
    async find(query, call) {
      const key = keyOf(query);
      const known = staleMs > 0 ? kept.get(key) : undefined;
      if (!known || hasStarted(known)) return ask(key, call);
      ask(key, call).catch(() => undefined);
      return known;
    },
    forget() {
      running = new Map();
      kept.clear();
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

/** Whether a time slot has started since the search. Such a result is not reused: the page would miss an entry. */
function hasStarted([first]: TimeSlots): boolean {
  return first !== undefined && first.start.getTime() <= Date.now();
}
