import { findItems, type Item, isGatewayId } from '../confirmations/items.ts';
import { reachedRecord } from '../context/work-context.ts';
import { inPath } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import { openDraft } from './drafts.ts';
import { type KnownAppointment, rememberedAppointments, withFormerIds } from './known-appointments.ts';
import { isBookedSince } from './representation.ts';
import type { RequestContext } from './request-context.ts';

/** What an appointment id in a request refers to. */
export type Target =
  /** An appointment in the EHR, with the code that it awaits or awaited. */
  | { readonly kind: 'appointment'; readonly id: string; readonly appointment: KnownAppointment; readonly item?: Item }
  /** A two-step cancellation. `appointment` is the original. */
  | { readonly kind: 'cancellation'; readonly id: string; readonly appointment: KnownAppointment; readonly item: Item }
  /** A booking that only the gateway stores, because the EHR has no holds. */
  | { readonly kind: 'draft'; readonly id: string; readonly appointment: KnownAppointment; readonly item: Item };

/** Most requests need no query of the gateway's own tables. */
const none: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * The targets of these ids. Ids that do not exist in the care unit are left out. With `awaited`, booked appointments need
 * no query beyond the EHR's; with `all`, used codes are read too.
 */
export async function findTargets(
  context: RequestContext,
  ids: readonly string[],
  codes: 'awaited' | 'all' = 'awaited',
): Promise<ReadonlyMap<string, Target>> {
  const { services, ehr, careUnit } = context;
  const itemsOf = (own: readonly string[]) =>
    own.length === 0 ? none : findItems(services.db, ehr.id, careUnit.id, own);
  const gatewayItems = await itemsOf(ids.filter(isGatewayId));
  const ehrIds = ids.flatMap((id) => {
    const item = gatewayItems.get(id);
    return item ? (item.ehrAppointmentId ?? []) : [id];
  });
  const found = ehrIds.length > 0 ? await ehr.call('findAppointments', careUnit, [...new Set(ehrIds)]) : [];
  const known = await withFormerIds(services.db, ehr, found);
  const appointments = new Map(known.map((appointment) => [appointment.id, appointment]));
  const coded = found.filter(({ id, state }) => (codes === 'all' || state === 'held') && !gatewayItems.has(id));
  const ownItems = await itemsOf(coded.map(({ id }) => id));
  const outdated = coded.filter((appointment) => isBookedSince(appointment, ownItems.get(appointment.id)));
  if (outdated.length > 0) {
    const read = await ehr.call(
      'findAppointments',
      careUnit,
      outdated.map(({ id }) => id),
    );
    for (const appointment of read) appointments.set(appointment.id, appointment);
  }
  // What the EHR has no more is cancelled, with what the gateway knows of it.
  const gone = ehrIds.length > found.length ? ids.filter((id) => isGone(gatewayItems.get(id), id, appointments)) : [];
  const originalOf = (id: string) => originalId(gatewayItems.get(id), id);
  const remembered =
    gone.length === 0 ? none : await rememberedAppointments(context, [...new Set(gone.map(originalOf))]);
  for (const id of gone) {
    const appointment = remembered.get(originalOf(id));
    const ehrId = gatewayItems.get(id)?.ehrAppointmentId ?? id;
    if (appointment) appointments.set(ehrId, { ...appointment, id: ehrId });
  }
  const targets = new Map<string, Target>();
  for (const id of ids) {
    const target = targetOf(context, id, gatewayItems.get(id), appointments, ownItems);
    if (!target) continue;
    targets.set(id, target);
    reachedRecord({ id, patientId: target.appointment.patientId });
  }
  return targets;
}

function isGone(item: Item | undefined, id: string, appointments: ReadonlyMap<string, KnownAppointment>): boolean {
  return item?.ehrAppointmentId !== null && !appointments.has(item?.ehrAppointmentId ?? id);
}

/** The caller's id of the appointment itself. That of a two-step cancellation is another. */
function originalId(item: Item | undefined, id: string): string {
  return item?.kind === 'cancellation' ? (item.replacesId ?? item.ehrAppointmentId ?? id) : id;
}

function targetOf(
  context: RequestContext,
  id: string,
  gatewayItem: Item | undefined,
  appointments: ReadonlyMap<string, KnownAppointment>,
  ownItems: ReadonlyMap<string, Item>,
): Target | undefined {
  if (gatewayItem?.ehrAppointmentId === null) {
    return {
      kind: 'draft',
      id,
      appointment: openDraft(context.services.keys, context.ehr, context.careUnit, gatewayItem),
      item: gatewayItem,
    };
  }
  const appointment = appointments.get(gatewayItem?.ehrAppointmentId ?? id);
  if (!appointment) return undefined;
  if (gatewayItem?.kind === 'cancellation') return { kind: 'cancellation', id, appointment, item: gatewayItem };
  const item = gatewayItem ?? ownItems.get(appointment.id);
  return { kind: 'appointment', id, appointment, ...(item ? { item } : {}) };
}

/** @throws Problem `appointment_not_found` */
export async function requireTarget(context: RequestContext, id: string, codes?: 'all'): Promise<Target> {
  const target = (await findTargets(context, [id], codes)).get(id);
  if (!target) {
    throw problemAt(
      inPath('appointment_id'),
      'appointment_not_found',
      'The care unit has no appointment with this id.',
    );
  }
  return target;
}
