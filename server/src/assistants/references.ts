import { hkdfSync, randomUUID } from 'node:crypto';
import { createKeyRing, type KeyRing } from '../secrets/key-ring.ts';

/** Milliseconds. Long enough to ask a person, short enough that the time is probably still free. */
const planLifetime = 5 * 60_000;
/** Milliseconds. A conversation goes on with the times that it has found. */
const timeLifetime = 60 * 60_000;

/** A time slot that the gateway has listed. */
export interface FoundTime {
  /** RFC 3339. */
  readonly start: string;
  readonly end: string;
  readonly resourceId: string;
  readonly serviceId: string;
  /** Absent: sealed by an earlier version, for the only care unit. */
  readonly careUnitId?: string | undefined;
}

/** A write that was tried in a dry run. */
export type Plan =
  | { readonly action: 'book'; readonly time: FoundTime }
  | (OfAppointment & { readonly action: 'move'; readonly time: FoundTime })
  | (OfAppointment & { readonly action: 'cancel' });

interface OfAppointment {
  readonly appointmentId: string;
  /** As of a time. */
  readonly careUnitId?: string | undefined;
}

/** A plan with the `Idempotency-Key` under which it is performed. */
export type KeyedPlan = Plan & { readonly key: string };

/** Seals what a model carries from one call to the next, so that it can neither read nor change it. */
export interface References {
  sealTime(time: FoundTime): string;
  /** `undefined`: it was not sealed here for this patient, or is too old. */
  openTime(reference: string): FoundTime | undefined;
  /** Gives the plan a key. */
  sealPlan(plan: Plan): { readonly reference: string; readonly validUntil: Date };
  /** `undefined`: as for `openTime`. */
  openPlan(reference: string): KeyedPlan | undefined;
}

/** To whom references belong. */
interface Owner {
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId?: string | undefined;
  readonly patient: string;
}

/** Keys that are derived from the client's secret (RFC 5869): each process with the same credentials has them. */
export function keysFrom(clientId: string, secret: string): KeyRing {
  return createKeyRing([Buffer.from(hkdfSync('sha256', secret, clientId, 'crossward assistant', 32))]);
}

/**
 * References that are bound to the client, the care unit and the patient. Nothing is stored.
 *
 * @param now milliseconds since 1970
 */
export function createReferences(owner: Owner, keys: KeyRing, now: () => number = Date.now): References {
  const { clientId, emr, careUnitId, patient } = owner;
  const contextOf = (kind: string) => JSON.stringify([kind, clientId, emr, careUnitId, patient]);

  function seal(kind: string, content: FoundTime | KeyedPlan, until: number): string {
    return keys.seal('assistant', JSON.stringify({ content, until }), contextOf(kind)).toString('base64url');
  }

  function open<Content>(kind: string, reference: string): Content | undefined {
    const opened = keys.open('assistant', Buffer.from(reference, 'base64url'), contextOf(kind));
    if (opened === undefined) return undefined;
    const { content, until } = JSON.parse(opened) as { content: Content; until: number };
    return now() < until ? content : undefined;
  }

  return {
    sealTime: (time) => seal('time', time, now() + timeLifetime),
    openTime: (reference) => open<FoundTime>('time', reference),
    sealPlan(plan) {
      const until = now() + planLifetime;
      return { reference: seal('plan', { ...plan, key: randomUUID() }, until), validUntil: new Date(until) };
    },
    openPlan: (reference) => open<KeyedPlan>('plan', reference),
  };
}
