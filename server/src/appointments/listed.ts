import type { AppointmentPosition } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { TimeRange } from '../api/request-times.ts';
import {
  findBookings,
  findItems,
  type Item,
  isPendingSql,
  patientHashes,
  selectItems,
} from '../confirmations/items.ts';
import type { AppointmentStatus } from './contract.ts';
import { openDraft } from './drafts.ts';
import { type KnownAppointment, withFormerIds } from './known-appointments.ts';
import { shownStatus, statesOf } from './representation.ts';
import type { RequestContext } from './request-context.ts';

/** An entry of a list: the appointment, its id for the caller, and the code that it awaits. */
export interface Listed {
  readonly id: string;
  readonly appointment: KnownAppointment;
  readonly item: Item | undefined;
}

export interface ListQuery {
  readonly patientId: string | undefined;
  readonly resourceId: string | undefined;
  readonly range: TimeRange | undefined;
  /** Empty: all. */
  readonly statuses: readonly AppointmentStatus[];
  readonly after: AppointmentPosition | undefined;
  readonly limit: number;
}

/** The EHR's appointments and, if the EHR has no holds, the gateway's drafts. */
export async function loadListed(context: RequestContext, query: ListQuery): Promise<readonly Listed[]> {
  const { ehr } = context;
  if (ehr.capabilities.changes.includes('confirm')) {
    return fill(query, async (after) => withCodes(context, await pageOf(context, query, after)));
  }
  const [aliased, drafts] = await Promise.all([
    loadAliased(context, query),
    fill(query, (after) => loadDrafts(context, { ...query, after })),
  ]);
  return [...aliased, ...drafts].sort(byPosition).slice(0, query.limit);
}

/** A page of the EHR's appointments in every state that may be shown with a wanted status. */
async function pageOf(
  { services, ehr, careUnit }: RequestContext,
  { patientId, resourceId, range, statuses, limit }: ListQuery,
  after: AppointmentPosition | undefined,
): Promise<readonly KnownAppointment[]> {
  const states = [...new Set(statuses.flatMap(statesOf))];
  const query = { careUnit, patientId, resourceId, range, states, after, limit };
  return withFormerIds(services.db, ehr, await ehr.call('listAppointments', query));
}

/** Whether the response shows the entry with a wanted status. The EHR does not know which codes have expired. */
function isShownAs(statuses: ListQuery['statuses']) {
  return ({ appointment, item }: Listed) => statuses.length === 0 || statuses.includes(shownStatus(appointment, item));
}

/** Reads pages until there are `limit` entries or no more. */
async function fill(
  { statuses, after, limit }: ListQuery,
  load: (after: AppointmentPosition | undefined) => Promise<readonly Listed[]>,
): Promise<Listed[]> {
  const listed: Listed[] = [];
  let from = after;
  for (;;) {
    const found = await load(from);
    listed.push(...found.filter(isShownAs(statuses)));
    const last = found.at(-1);
    if (!last || found.length < limit || listed.length >= limit) return listed.slice(0, limit);
    from = { start: last.appointment.start, id: last.id };
  }
}

/** Adds the codes of holds. In an EHR that can hold, callers use the EHR's id. */
async function withCodes(
  { services, ehr, careUnit }: RequestContext,
  found: readonly KnownAppointment[],
): Promise<Listed[]> {
  const held = found.filter(({ state }) => state === 'held').map(({ id }) => id);
  const items = await findItems(services.db, ehr.id, careUnit.id, held);
  return found.map((appointment) => ({ id: appointment.id, appointment, item: items.get(appointment.id) }));
}

function byPosition(a: Listed, b: Listed): number {
  return a.appointment.start.getTime() - b.appointment.start.getTime() || (a.id < b.id ? -1 : 1);
}

/** The EHR sorts equal start times by its own ids. All of one start time are read, and sorted by the callers' ids. */
async function loadAliased(context: RequestContext, query: ListQuery): Promise<Listed[]> {
  const { after, limit } = query;
  const isAfter = ({ id, appointment: { start } }: Listed) =>
    after === undefined || start > after.start || (start.getTime() === after.start.getTime() && id > after.id);
  const listed: Listed[] = [];
  let from = after && { start: after.start, id: '' };
  for (;;) {
    const found = await pageOf(context, query, from);
    listed.push(...(await underKnownIds(context, found)).filter(isAfter).filter(isShownAs(query.statuses)));
    const last = found.at(-1);
    const enough = listed.toSorted(byPosition)[limit - 1];
    if (!last || found.length < limit || (enough && last.start > enough.appointment.start)) return listed;
    from = { start: last.start, id: last.id };
  }
}

/** Replaces the EHR's ids of booked drafts by the draft ids, which stay valid. */
async function underKnownIds(
  { services, ehr, careUnit }: RequestContext,
  found: readonly KnownAppointment[],
): Promise<Listed[]> {
  const ids = found.map(({ id }) => id);
  const items = await findBookings(services.db, ehr.id, careUnit.id, ids);
  return found.map((appointment) => {
    const item = items.get(appointment.id);
    // Once it is no longer held, the EHR's state counts, not the code's.
    return { id: item?.id ?? appointment.id, appointment, item: appointment.state === 'held' ? item : undefined };
  });
}

async function loadDrafts(context: RequestContext, query: ListQuery): Promise<Listed[]> {
  const { services, ehr, careUnit } = context;
  const { patientId, resourceId, range, statuses, after, limit } = query;
  const wantsAwaiting = statuses.length === 0 || statuses.includes('awaiting_confirmation');
  const wantsCancelled = statuses.length === 0 || statuses.includes('cancelled');
  let select = selectItems(services.db, ehr.id, careUnit.id)
    .where('item.draft_start', 'is not', null)
    .where('item.ehr_appointment_id', 'is', null);
  if (patientId !== undefined) {
    select = select.where('item.patient_hash', 'in', patientHashes(services.keys, ehr.id, patientId));
  }
  if (resourceId !== undefined) select = select.where('item.draft_resource_id', '=', resourceId);
  if (range) select = select.where('item.draft_start', '<', range.end).where('item.draft_end', '>', range.start);
  if (after) {
    select = select.where(
      sql<boolean>`(item.draft_start, item.appointment_id COLLATE "C") > (${after.start}, ${after.id})`,
    );
  }
  if (wantsAwaiting !== wantsCancelled)
    select = select.where(wantsAwaiting ? isPendingSql : sql<boolean>`NOT ${isPendingSql}`);
  if (!wantsAwaiting && !wantsCancelled) return [];
  const items: Item[] = await select
    .orderBy('item.draft_start')
    .orderBy(sql`item.appointment_id COLLATE "C"`)
    .limit(limit)
    .execute();
  return items.map((item) => ({ id: item.id, appointment: openDraft(services.keys, ehr, careUnit, item), item }));
}
