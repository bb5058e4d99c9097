import { setImmediate as otherRequests } from 'node:timers/promises';
import { type EhrAppointment, takesSlot } from './appointment-reads.ts';
import { passwords, patients, practitioners, services } from './ehr-data.ts';
import type { EhrSlot } from './time-slots.ts';

/** A request is refused with a status and a code. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

type Body = Readonly<Record<string, unknown>>;

export interface EhrOptions {
  /** How many requests one token is good for. The EHR ends it earlier than it says. */
  readonly usesOfToken?: number;
  /** Whether a slot can be booked once only. */
  readonly checksSlots?: boolean;
}

const halfHour = 30 * 60 * 1000;
const day = 48 * halfHour;
/** A day has 32 slots. */
const slotsInPage = 48;
const entriesInPage = 3;

/** As `EhrAppointment`, with what the connector does not read. */
interface StoredAppointment extends Omit<EhrAppointment, 'note'> {
  readonly department: string;
  readonly note: string | null;
}

/**
 * The EHR itself: half-hour slots from 08:00 to 16:00 UTC on each of the next 90 days. It keeps appointments in memory. It books as
 * many do: it looks whether the slot is free, and writes a moment later.
 */
export class Ehr {
  readonly #options: Required<EhrOptions>;
  readonly #appointments = new Map<string, StoredAppointment>();
  /** By token, with the requests that are left. */
  readonly #sessions = new Map<string, { readonly user: string; uses: number }>();
  #last = 0;

  constructor({ usesOfToken = 500, checksSlots = true }: EhrOptions = {}) {
    this.#options = { usesOfToken, checksSlots };
  }

  /** @throws Refusal */
  async answer(path: string, token: string, body: Body): Promise<object> {
    if (path === '/sign-in') return this.#signIn(body);
    const user = this.#userOf(token);
    const [, type = '', id = '', action = ''] = path.split('/');
    if (id === 'search') return pageOf(this.#search(type, body), body, type === 'slots' ? slotsInPage : entriesInPage);
    if (user === 'reader') throw new Refusal(403, 'not_allowed');
    if (type === 'slots' && action === 'book') return { entries: [await this.#book(id, body)] };
    const found = this.#appointments.get(id);
    if (type !== 'appointments' || !found || found.department !== body.department || found.status === 'deleted')
      throw new Refusal(404, 'unknown_appointment');
    if (action === 'change') return { entries: [this.#change(found, body)] };
    if (action === 'cancel') return { entries: [this.#cancel(found, body)] };
    if (action !== 'delete') throw new Refusal(404, 'not_found');
    this.#save({ ...found, status: 'deleted' });
    return { entries: [] };
  }

  #signIn({ user, password }: Body): object {
    if (password !== passwords.get(String(user))) throw new Refusal(401, 'wrong_password');
    const token = `token-${++this.#last}`;
    this.#sessions.set(token, { user: String(user), uses: this.#options.usesOfToken });
    return { token, seconds: 600 };
  }

  #userOf(token: string): string {
    const session = this.#sessions.get(token);
    if (!session || session.uses-- <= 0) throw new Refusal(401, 'signed_out');
    return session.user;
  }

  /** It filters by little: the rest is left to its callers. */
  #search(
    type: string,
    { department, id, ids, nhs, patient, reference, since, from, to }: Body,
  ): readonly { id: string }[] {
    const isIn = (it: { readonly start: string }) =>
      from === undefined || (it.start.slice(0, 10) >= String(from) && it.start.slice(0, 10) <= String(to));
    switch (type) {
      case 'patients':
        return patients.filter((it) =>
          id === undefined ? it.nhs !== null && [nhs].flat().includes(it.nhs) : it.id === id,
        );
      case 'services':
        return services;
      case 'practitioners':
        return practitioners.filter((it) => it.department === department);
      case 'slots':
        return this.#slots(String(department), String(from), String(to));
      case 'appointments':
        return [...this.#appointments.values()].filter(
          (it) =>
            it.department === department &&
            (!Array.isArray(ids) || ids.includes(it.id)) &&
            (patient === undefined || it.patient === patient) &&
            (reference === undefined || it.references.includes(String(reference))) &&
            (since === undefined ? it.status !== 'deleted' : it.changed >= String(since)) &&
            isIn(it),
        );
      default:
        throw new Refusal(404, 'not_found');
    }
  }

  /** Those of the days from one to another. */
  #slots(department: string, from: string, to: string): EhrSlot[] {
    const slots: EhrSlot[] = [];
    const taken = new Set(Array.from(this.#appointments.values(), (it) => (takesSlot(it) ? it.slot : '')));
    const now = Math.ceil(Date.now() / halfHour) * halfHour;
    const last = Math.min(Date.parse(to) + day, now + 90 * day);
    for (let start = Math.max(Date.parse(from), now); start < last; start += halfHour) {
      const hour = new Date(start).getUTCHours();
      if (hour < 8 || hour >= 16) continue;
      for (const { id: practitioner, services: offered } of practitioners.filter(
        (it) => it.department === department,
      )) {
        const id = `${start / halfHour}${practitioner}`;
        const time = { start: iso(start), end: iso(start + halfHour) };
        slots.push({ id, practitioner, services: offered, ...time, isFree: !taken.has(id) });
      }
    }
    return slots;
  }

  /** @throws Refusal unless the slot is free, but for this appointment */
  #freeSlot(id: string, department: unknown, but?: string): EhrSlot {
    const date = iso(Number.parseInt(id, 10) * halfHour).slice(0, 10);
    const slot = this.#slots(String(department), date, date).find((it) => it.id === id);
    if (!slot) throw new Refusal(404, 'unknown_slot');
    const isTaken = [...this.#appointments.values()].some((it) => it.slot === id && takesSlot(it) && it.id !== but);
    if (isTaken && this.#options.checksSlots) throw new Refusal(409, 'not_free');
    return slot;
  }

  async #book(slotId: string, { department, patient, service, note, reference }: Body): Promise<StoredAppointment> {
    const person = patients.find(({ id }) => id === patient);
    if (!person) throw new Refusal(422, 'unknown_patient');
    if (person.died) throw new Refusal(422, 'inactive_patient');
    const slot = this.#freeSlot(slotId, department);
    if (!slot.services.includes(String(service))) throw new Refusal(422, 'unknown_service');
    await otherRequests();
    const place = ++this.#last;
    return this.#save({
      id: String(place),
      place,
      department: String(department),
      patient: String(patient),
      service: String(service),
      slot: slot.id,
      practitioner: slot.practitioner,
      start: slot.start,
      end: slot.end,
      note: typeof note === 'string' ? note : null,
      references: [String(reference)],
      status: 'booked',
      version: 0,
      created: new Date().toISOString(),
    });
  }

  /** What is not sent stays as it is. */
  #change(current: StoredAppointment, { slot: slotId, note, reference }: Body): StoredAppointment {
    if (current.status === 'cancelled') throw new Refusal(409, 'cancelled');
    const slot = slotId === undefined ? undefined : this.#freeSlot(String(slotId), current.department, current.id);
    if (slot && hasStarted(current)) throw new Refusal(409, 'started');
    const moved = slot && { slot: slot.id, practitioner: slot.practitioner, start: slot.start, end: slot.end };
    return this.#save({
      ...current,
      ...(moved && { ...moved, place: ++this.#last }),
      ...(note === undefined ? {} : { note: note as string | null }),
      references: [...current.references, String(reference)],
    });
  }

  #cancel(current: StoredAppointment, { note, reference }: Body): StoredAppointment {
    if (hasStarted(current)) throw new Refusal(409, 'started');
    if (current.status === 'cancelled') return current;
    const references = [...current.references, String(reference)];
    return this.#save({ ...current, ...(typeof note === 'string' ? { note } : {}), references, status: 'cancelled' });
  }

  #save(appointment: Omit<StoredAppointment, 'changed'>, at = new Date()): StoredAppointment {
    const saved = { ...appointment, version: appointment.version + 1, changed: at.toISOString() };
    this.#appointments.set(saved.id, saved);
    return saved;
  }

  /** For tests: what a program of the clinic has changed, with the time stamp that it gave. */
  touch(id: string, fields: Partial<Pick<StoredAppointment, 'note' | 'status'>>, at?: Date): void {
    const found = this.#appointments.get(id);
    if (found) this.#save({ ...found, ...fields }, at);
  }
}

function hasStarted({ status }: StoredAppointment): boolean {
  return status === 'arrived' || status === 'completed';
}

function iso(time: number): string {
  return Number.isFinite(time) ? new Date(time).toISOString() : '';
}

/** The page after the entry with this id. Without `next`, it is the last one. */
function pageOf(all: readonly { readonly id: string }[], { after }: Body, pageSize: number): object {
  const begin = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const entries = all.slice(begin, begin + pageSize);
  return { entries, ...(begin + pageSize < all.length ? { next: entries.at(-1)?.id } : {}) };
}
