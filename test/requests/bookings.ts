import type { Gateway, GatewayResponse, RequestOptions } from '../gateway/gateway.ts';

export interface Slot {
  readonly start: string;
  readonly end: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
}

export interface Appointment {
  readonly id: string;
  readonly status: 'awaiting_confirmation' | 'booked' | 'cancelled';
  readonly start: string;
  readonly end: string;
  readonly comment: string | null;
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly emr: string;
  readonly care_unit_id: string;
  readonly confirmation: unknown;
  readonly replaces_id: string | null;
  readonly supersedes_id: string | null;
  readonly attendance: string | null;
  readonly modality: string | null;
  readonly notice: string | null;
}

export const oslo = '/api/emrs/sandbox-no/care-units/oslo-sentrum';
export const bergen = '/api/emrs/sandbox-no/care-units/bergen-nord';
export const sodermalm = '/api/emrs/sandbox-se/care-units/sodermalm';
export const riverside = '/api/emrs/sandbox-uk/care-units/riverside';

interface SlotFilter {
  readonly careUnit?: string;
  readonly resourceId?: string;
  readonly healthcareServiceId?: string;
  /** Start of the search. Default: a week from now. */
  readonly from?: Date;
  readonly days?: number;
  readonly limit?: number;
}

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** All searches of a process start at the same time: a slot that begins then is in the second list as in the first. */
const now = Date.now();

/** Free slots from the gateway, ordered by start. */
export async function freeSlots(gateway: Gateway, filter: SlotFilter = {}): Promise<readonly Slot[]> {
  const { careUnit = oslo, resourceId = 'r-1', healthcareServiceId = 'consultation', days = 28, limit = 50 } = filter;
  const from = filter.from ?? new Date(now + 7 * dayMilliseconds);
  const query = new URLSearchParams({
    start: from.toISOString(),
    end: new Date(from.getTime() + days * dayMilliseconds).toISOString(),
    resource_id: resourceId,
    healthcare_service_id: healthcareServiceId,
    limit: String(limit),
  });
  const { status, body, text } = await gateway.request<{ timeslots: Slot[] }>('GET', `${careUnit}/timeslots?${query}`);
  if (status !== 200) throw new Error(`Listing time slots failed: ${text}`);
  return body.timeslots;
}

/** The next free slot. */
export async function freeSlot(gateway: Gateway, filter: SlotFilter = {}): Promise<Slot> {
  const [slot] = await freeSlots(gateway, { ...filter, limit: 1 });
  if (!slot) throw new Error('No free time slot');
  return slot;
}

/** Consecutive free slots of one resource. */
export async function consecutiveSlots(
  gateway: Gateway,
  length: number,
  filter: SlotFilter = {},
): Promise<readonly Slot[]> {
  const slots = await freeSlots(gateway, filter);
  const firstIndex = slots.findIndex((_, index) =>
    Array.from({ length }, (_unused, step) => slots[index + step]).every(
      (slot, step) => slot && (step === 0 || slots[index + step - 1]?.end === slot.start),
    ),
  );
  if (firstIndex === -1) throw new Error(`No ${length} consecutive free slots`);
  return slots.slice(firstIndex, firstIndex + length);
}

/** Whether the slot is free. */
export async function isFree(gateway: Gateway, { start, resource_id }: Slot, careUnit: string): Promise<boolean> {
  const resourceId = resource_id.replace('emr_id:', '');
  const slots = await freeSlots(gateway, { careUnit, resourceId, from: new Date(start), days: 1 });
  return slots.some((it) => it.start === start);
}

/** Twenty days from now: later than the next free slots. */
export function nextMonth(): Date {
  return new Date(now + 20 * dayMilliseconds);
}

/** The time of a slot, as the body of an update. */
export function at({ start, end }: Slot) {
  return { start, end };
}

/** The time of a slot or appointment, as query parameters of a list. */
export function around({ start, end }: Slot | Appointment): string {
  return new URLSearchParams({ start: new Date(start).toISOString(), end: new Date(end).toISOString() }).toString();
}

export function idsIn(appointments: readonly Appointment[]): string[] {
  return appointments.map(({ id }) => id);
}

/** The local time without the offset: `2026-03-20T09:00:00` for `2026-03-20T09:00:00+01:00`. */
export function local(dateTime: string): string {
  return dateTime.slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
}

/** The body of Create Appointment, from the start of `slot` to the end of `last`. */
export function creationBody(slot: Slot, last: Slot = slot) {
  return {
    patient_id: 'p-3',
    resource_id: slot.resource_id,
    healthcare_service_id: slot.healthcare_service_id,
    start_time: local(slot.start),
    end_time: local(last.end),
  };
}

interface Booking extends SlotFilter {
  readonly patientId?: string;
  readonly comment?: string;
  readonly slot?: Slot;
  readonly client?: RequestOptions['client'];
}

/** Books the given slot, or the next free one. */
export async function book(gateway: Gateway, booking: Booking = {}): Promise<Appointment> {
  const { careUnit = oslo, patientId = 'p-3', comment, client = 'everything' } = booking;
  const slot = booking.slot ?? (await freeSlot(gateway, booking));
  const response: GatewayResponse<Appointment> = await gateway.request('POST', `${careUnit}/appointments`, {
    client,
    body: { ...creationBody(slot), patient_id: patientId, ...(comment === undefined ? {} : { comment }) },
  });
  if (response.status !== 201) throw new Error(`Booking failed: ${response.text}`);
  return response.body;
}

/** Books these slots one after the other. */
export async function bookEach(
  gateway: Gateway,
  slots: readonly Slot[],
  booking: Booking = {},
): Promise<Appointment[]> {
  const booked: Appointment[] = [];
  for (const slot of slots) booked.push(await book(gateway, { ...booking, slot }));
  return booked;
}

/** Books the next `count` free slots. */
export async function bookSome(gateway: Gateway, count: number, booking: Booking = {}): Promise<Appointment[]> {
  return bookEach(gateway, await freeSlots(gateway, { ...booking, limit: count }), booking);
}

/** Follows `next_cursor` to the end and returns the entries of each page. */
export async function pagesOf<Entry>(gateway: Gateway, path: string, field: string): Promise<readonly Entry[][]> {
  const pages: Entry[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    const response = await gateway.request<Record<string, Entry[]> & { next_cursor: string | null }>(
      'GET',
      path + query,
    );
    if (response.status !== 200) throw new Error(`Listing failed: ${response.text}`);
    pages.push(response.body[field] ?? []);
    if (pages.length > 1000) throw new Error('The list has more than 1000 pages');
    cursor = response.body.next_cursor;
  }
  return pages;
}
