import type { Slot } from '../../requests/bookings.ts';
import type { Settled } from '../caller.ts';
import { type Kind, slotName } from '../history.ts';
import type { Living } from './living.ts';

interface Appointment {
  readonly id: string;
  readonly status: string;
  readonly start: string;
  readonly resource_id: string;
  readonly comment: string | null;
  readonly confirmation: object | null;
}

/** The appointments that a request changes: one, or several at once. */
export interface About {
  readonly careUnit: string;
  readonly subjects: readonly string[];
  readonly ids: readonly string[];
  readonly confirmationId?: string | undefined;
}

interface Change {
  readonly body: object;
  /** Whether the change was made, for callers without a key. */
  readonly seen?: (found: Appointment) => boolean;
  readonly slots?: readonly string[];
}

export const isDone = ({ told }: Settled) => told === 'done';
export const idOf = ({ ids }: Pick<Settled, 'ids'>) => ids[0] ?? '';
export const slotOf = (slot: Slot) => slotName({ start: slot.start, resourceId: slot.resource_id });
export const isAt = (slot: Slot) => (found: Appointment) =>
  slotName({ start: found.start, resourceId: found.resource_id }) === slotOf(slot);

export type AppointmentWrites = ReturnType<typeof appointmentWrites>;

export function appointmentWrites({ callers: { settle, read }, random, name, takeSlot }: Living) {
  interface Booking {
    readonly patient?: string;
    readonly slot?: Slot;
  }

  async function book(
    kind: Kind,
    careUnit: string,
    { patient = `p-${1 + Math.floor(random() * 18)}`, slot = takeSlot(careUnit) }: Booking = {},
  ): Promise<{ readonly about: About; readonly booked: Settled }> {
    const subject = name(kind);
    const request = {
      method: 'POST' as const,
      path: `${careUnit}/appointments`,
      body: {
        patient_id: patient,
        resource_id: slot.resource_id,
        healthcare_service_id: slot.healthcare_service_id,
        start_time: slot.start,
        end_time: slot.end,
        comment: subject,
      },
    };
    // A hold without a confirmation is one that the gateway releases: nobody has its code.
    const isWished = ({ comment, status, confirmation }: Appointment) =>
      comment === subject && (status === 'booked' || confirmation !== null);
    const look = async () => {
      const query = new URLSearchParams({ resource_id: slot.resource_id, start: slot.start, end: slot.end });
      const statuses = '&status=booked&status=awaiting_confirmation';
      const page = await read<{ appointments: Appointment[] }>(`${careUnit}/appointments?${query}${statuses}`);
      const found = page?.appointments.filter(isWished).map(({ id }) => id) ?? [];
      return found.length > 0 ? found : undefined;
    };
    const wish = { kind, operation: 'create_appointment', subjects: [subject], request, slots: [slotOf(slot)], look };
    const booked = await settle(wish);
    const { ids, confirmationId } = booked;
    return { about: { careUnit, subjects: [subject], ids, confirmationId }, booked };
  }

  function change(kind: Kind, { careUnit, subjects, ids, confirmationId }: About, { body, seen, slots = [] }: Change) {
    const [first = '', ...others] = ids;
    const path = `${careUnit}/appointments`;
    const request =
      others.length === 0
        ? { method: 'PATCH' as const, path: `${path}/${first}`, body }
        : { method: 'PATCH' as const, path, body: { ids, ...body } };
    const look = async () => {
      const found = await Promise.all(ids.map((id) => read<Appointment>(`${path}/${id}`)));
      return found.every((it) => it && seen?.(it)) ? ids : undefined;
    };
    return settle({
      kind,
      operation: others.length === 0 ? 'change_appointment' : 'change_appointments',
      subjects,
      request,
      confirmationId,
      slots,
      ...(seen ? { look } : {}),
    });
  }

  return {
    book,
    change,
    cancel: (about: About, kind: Kind = 'cancellation') =>
      change(kind, about, { body: { status: 'cancelled' }, seen: ({ status }) => status === 'cancelled' }),
  };
}
