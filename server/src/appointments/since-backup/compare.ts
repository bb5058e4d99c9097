import type { Appointment, AppointmentState, CareUnit, Connector } from '@crossward/connector-kit';
import type { Db } from '../../db/kysely.ts';
import { causeOf } from '../../ehr/guard/cause-of.ts';
import { type KnownBooking, knownBookings, knownIds, observedSince, readUntil } from './known.ts';

/** An EHR whose connection is open. */
export interface OpenEhr {
  readonly id: string;
  /** Name of the connector. */
  readonly connector: string;
  readonly careUnits: readonly CareUnit[];
  readonly calls: Connector;
}

/**
 * - `unknown`: in the EHR, changed since, and nothing of the gateway knows it
 * - `changed`: in the EHR at another time, with another resource, or booked although the gateway waits for a code
 * - `cancelled`: the gateway knows it as booked
 * - `missing`: the gateway knows it as booked, and the care unit does not show it any more
 */
export type DifferenceKind = 'unknown' | 'changed' | 'cancelled' | 'missing';

export interface ComparedPlace {
  readonly start: Date;
  readonly end: Date | null;
  readonly resourceId: string | null;
}

/** An appointment about which the EHR and the gateway disagree. Names no patient. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** The EHR's id. */
  readonly appointmentId: string;
  /** As the EHR shows it. `null`: it does not. */
  readonly inEhr: (ComparedPlace & { readonly state: AppointmentState }) | null;
  /** As the gateway knows it. `null`: it does not. */
  readonly known: (ComparedPlace & { readonly status: KnownBooking['status'] }) | null;
}

export interface CareUnitComparison {
  readonly careUnitId: string;
  readonly differences: readonly Difference[];
  /** What could not be compared, and why. Empty: everything was. */
  readonly notCompared: readonly string[];
}

const atOnce = 100;

/**
 * Compares the appointments of an EHR with what the gateway knew at this time and has done since: which ones others have booked
 * or changed, and which of its own are gone. A care unit that fails hides no other. Changes nothing.
 */
export async function compareSince(db: Db, ehr: OpenEhr, since: Date): Promise<readonly CareUnitComparison[]> {
  const changed = await attempt(() => changedSince(db, ehr, since));
  const compared: CareUnitComparison[] = [];
  for (const careUnit of ehr.careUnits) {
    const unknown = await attempt(async () => {
      if ('failure' in changed) throw changed.failure;
      return unknownIn(db, ehr, careUnit, changed.result, since);
    });
    const own = await attempt(() => ownDifferences(db, ehr, careUnit, since));
    compared.push({
      careUnitId: careUnit.id,
      differences: [...resultOf(unknown), ...resultOf(own)],
      notCompared: [
        ...failureOf(unknown, 'appointments that the gateway does not know'),
        ...failureOf(own, 'bookings of the gateway'),
        ...('result' in changed && changed.result.heldBackSince
          ? [`what was changed after ${changed.result.heldBackSince.toISOString()}: the EHR does not return it yet`]
          : []),
      ],
    });
  }
  return compared;
}

/** Why something cannot be compared. */
class NotComparable extends Error {}

type Attempt<Result> = { readonly result: Result } | { readonly failure: unknown };

async function attempt<Result>(work: () => Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { result: await work() };
  } catch (failure) {
    return { failure };
  }
}

function resultOf(attempted: Attempt<readonly Difference[]>): readonly Difference[] {
  return 'result' in attempted ? attempted.result : [];
}

function failureOf(attempted: Attempt<unknown>, what: string): string[] {
  if (!('failure' in attempted)) return [];
  const { failure } = attempted;
  return [`${what}: ${failure instanceof NotComparable ? failure.message : causeOf(failure)}`];
}

interface Changes {
  /** By care unit and id. `undefined`: it was read before, and has to be read again. */
  readonly appointments: ReadonlyMap<string, ReadonlyMap<string, Appointment | undefined>>;
  /** The EHR has changes since then that it cannot return yet. */
  readonly heldBackSince: Date | undefined;
}

/** What has changed in the EHR: what gateways have read since then, and what they have not read yet. */
async function changedSince(db: Db, ehr: OpenEhr, since: Date): Promise<Changes> {
  const { calls, careUnits } = ehr;
  if (!calls.listAppointmentChanges) throw new NotComparable('the EHR lists no changes');
  const start = await readUntil(db, ehr.id, ehr.connector);
  if (start === undefined) throw new NotComparable('the gateway has not read the changes of this EHR before');
  const appointments = new Map(careUnits.map(({ id }) => [id, new Map<string, Appointment | undefined>()]));
  for (const { id, careUnitId } of await observedSince(db, ehr.id, since))
    appointments.get(careUnitId)?.set(id, undefined);
  for (let after = start; ; ) {
    const { changes, next, hasMore, heldBackSince } = await calls.listAppointmentChanges({
      careUnits,
      after,
      limit: atOnce,
    });
    for (const { appointment, changedAt } of changes)
      if (changedAt >= since) appointments.get(appointment.careUnitId)?.set(appointment.id, appointment);
    if (!hasMore || next === after) return { appointments, heldBackSince };
    after = next;
  }
}

async function unknownIn(
  db: Db,
  { id: emr, calls }: OpenEhr,
  careUnit: CareUnit,
  { appointments }: Changes,
  since: Date,
): Promise<readonly Difference[]> {
  const changed = [...(appointments.get(careUnit.id) ?? [])];
  const differences: Difference[] = [];
  for (const group of groupsOf(changed)) {
    const ids = group.map(([id]) => id);
    const known = await knownIds(db, emr, ids, since);
    const toRead = group.flatMap(([id, read]) => (read || known.has(id) ? [] : [id]));
    const found = [
      ...group.flatMap(([id, read]) => (read && !known.has(id) ? [read] : [])),
      ...(toRead.length > 0 ? await findAppointments(calls, careUnit, toRead) : []),
    ];
    for (const appointment of found.filter(({ state }) => state !== 'cancelled'))
      differences.push({
        kind: 'unknown',
        appointmentId: appointment.id,
        inEhr: inEhr(appointment),
        known: null,
      });
  }
  return differences;
}

async function ownDifferences(
  db: Db,
  { id: emr, calls }: OpenEhr,
  careUnit: CareUnit,
  since: Date,
): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  for await (const group of knownBookings(db, { emr, careUnitId: careUnit.id }, since)) {
    if (group.length === 0) continue;
    const found = await findAppointments(
      calls,
      careUnit,
      group.map(({ id }) => id),
    );
    const byId = new Map(found.map((it) => [it.id, it]));
    for (const { id, ...known } of group) {
      const appointment = byId.get(id);
      const kind = differenceOf(known, appointment);
      if (kind) differences.push({ kind, appointmentId: id, inEhr: appointment ? inEhr(appointment) : null, known });
    }
  }
  return differences;
}

/** A hold that has ended is no difference: it ends when its code does. */
function differenceOf(known: Omit<KnownBooking, 'id'>, now: Appointment | undefined): DifferenceKind | undefined {
  const isHold = known.status === 'awaiting_confirmation';
  if (!now) return isHold ? undefined : 'missing';
  if (now.state === 'cancelled') return isHold ? undefined : 'cancelled';
  const isSame =
    (now.state === 'booked') === !isHold &&
    now.start.getTime() === known.start.getTime() &&
    now.end?.getTime() === known.end?.getTime() &&
    now.resourceId === known.resourceId;
  return isSame ? undefined : 'changed';
}

function inEhr({ state, start, end, resourceId }: Appointment): Difference['inEhr'] {
  return { state, start, end, resourceId };
}

async function findAppointments(
  { findAppointments: find }: Connector,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  if (!find) throw new NotComparable('the EHR finds no appointments by id');
  return find(careUnit, ids);
}

function groupsOf<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  return Array.from({ length: Math.ceil(entries.length / atOnce) }, (_, index) =>
    entries.slice(index * atOnce, (index + 1) * atOnce),
  );
}
