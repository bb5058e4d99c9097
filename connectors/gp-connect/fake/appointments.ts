import { isDeepStrictEqual } from 'node:util';
import { patients, type Slot } from './data-set.ts';
import { identifier, profile } from './names.ts';
import { Refusal } from './outcome.ts';
import { startOfUkDay, ukText } from './uk-text.ts';

type Json = Readonly<Record<string, unknown>>;
export interface Stored {
  readonly id: string;
  /** Without `id` and `meta`. */
  content: Json;
  /** Milliseconds of a whole second: two changes within one second look alike. */
  version: number;
  slots: readonly Slot[];
  readonly patient: string;
}

const reasonUrl = profile('Extension-GPConnect-AppointmentCancellationReason-1');
const bookingUrl = profile('Extension-GPConnect-BookingOrganisation-1');
const forbidden = [
  'id',
  'reason',
  'specialty',
  'appointmentType',
  'indication',
  'supportingInformation',
  'incomingReferral',
];

/** Appointments of the practice, with the rules of GP Connect. */
export class Appointments {
  readonly #byId = new Map<string, Stored>();
  readonly #slots: ReadonlyMap<string, Slot>;
  readonly #now: () => number;
  /** Waits between the check of a slot and its booking, if there is no lock. */
  readonly #withoutLock: (() => Promise<void>) | undefined;

  constructor(slots: readonly Slot[], now: () => number, withoutLock?: () => Promise<void>) {
    this.#slots = new Map(slots.map((it) => [it.id, it]));
    this.#now = now;
    this.#withoutLock = withoutLock;
  }

  all(): readonly Stored[] {
    return [...this.#byId.values()];
  }

  read(id: string): Stored {
    const found = this.#byId.get(id);
    if (!found) throw new Refusal(404, 'REFERENCE_NOT_FOUND');
    return found;
  }

  /** Those of the patient that start on one of these days, cancelled ones too. */
  list(patient: string, first: string, last: string): readonly Stored[] {
    if (!patients.some(({ id }) => id === patient)) throw new Refusal(400, 'BAD_REQUEST');
    const [from, until] = [startOfUkDay(first), startOfUkDay(last) + 24 * 60 * 60 * 1000];
    return this.all().filter((it) => it.patient === patient && startOf(it) >= from && startOf(it) < until);
  }

  async create(sent: Json): Promise<Stored> {
    const { meta, extension, contained, description, comment, created, status } = sent;
    const isForbidden = forbidden.some((name) => name in sent);
    if (profileOf(meta) !== profile('GPConnect-Appointment-1') || status !== 'booked' || isForbidden) throw invalid();
    if (typeof created !== 'string' || typeof description !== 'string' || description === '') throw invalid();
    assertTextsFit(description, comment);
    assertBookingOrganisation(extension, contained);
    const slots = references(sent.slot).map((it) => this.#slotAt(it));
    const [first, last] = [slots[0], slots.at(-1)];
    if (!first || !last) throw invalid();
    const patient = assertParticipants(sent.participant, first);
    if (slots.some(({ isFree }) => !isFree)) throw new Refusal(409, 'DUPLICATE_REJECTED');
    slots.slice(1).forEach((it, index) => {
      if (it.schedule !== first.schedule || it.start !== slots[index]?.end) throw invalid();
    });
    if (sent.start !== ukText(first.start) || sent.end !== ukText(last.end) || first.start <= this.#now())
      throw invalid();
    await this.#withoutLock?.();
    for (const slot of slots) slot.isFree = false;
    // An identifier is accepted, and dropped.
    const { resourceType, meta: _, identifier: __, ...content } = sent;
    const stored: Stored = {
      id: String(this.#byId.size + 1),
      content: {
        ...content,
        extension: [
          ...(extension as readonly object[]),
          { url: profile('Extension-GPConnect-DeliveryChannel-2'), valueCode: first.schedule.channel },
        ],
        serviceCategory: { text: first.schedule.category },
        serviceType: [{ text: first.schedule.slotType }],
      },
      version: this.#version(),
      slots,
      patient,
    };
    this.#byId.set(stored.id, stored);
    return stored;
  }

  change(id: string, sent: Json, ifMatch: string | undefined, kind: 'amend' | 'cancel'): Stored {
    const found = this.#byId.get(id);
    // Not an error by its status.
    if (!found || sent.id !== id) throw new Refusal(200);
    if (ifMatch !== undefined && ifMatch !== `W/"${found.version}"`)
      throw new Refusal(409, 'FHIR_CONSTRAINT_VIOLATION');
    if (startOf(found) <= this.#now()) throw invalid();
    const { resourceType: _, id: __, meta: ___, ...content } = sent;
    assertTextsFit(content.description, content.comment);
    return kind === 'cancel' ? this.#cancel(found, content) : this.#amend(found, content);
  }

  #amend(found: Stored, content: Json): Stored {
    const { comment: _, description: __, ...others } = content;
    const { comment: ___, description: ____, ...before } = found.content;
    if (content.status !== 'booked' || !isDeepStrictEqual(others, before)) throw invalid();
    return this.#save(found, content);
  }

  /** A second cancellation is accepted, and frees nothing that was booked since. */
  #cancel(found: Stored, content: Json): Stored {
    const { status, extension, ...others } = content;
    const { status: before, extension: _, ...rest } = found.content;
    const reason = extensionsIn(extension).find(({ url }) => url === reasonUrl)?.valueString;
    if (status !== 'cancelled' || typeof reason !== 'string' || !reason) throw invalid();
    if (!isDeepStrictEqual(others, rest)) throw invalid();
    if (before === 'booked') for (const slot of found.slots) slot.isFree = true;
    return this.#save(found, content);
  }

  /** Also for the practice's own staff. */
  edit(id: string, change: Json): void {
    const found = this.read(id);
    const isCancelled = change.status === 'cancelled' && found.content.status === 'booked';
    if (isCancelled) for (const slot of found.slots) slot.isFree = true;
    this.#save(found, { ...found.content, ...change });
  }

  /** By the practice's own staff, within one schedule. */
  move(id: string, slot: Slot): void {
    const found = this.read(id);
    if (!slot.isFree) throw invalid();
    for (const it of found.slots) it.isFree = true;
    slot.isFree = false;
    found.slots = [slot];
    const time = { start: ukText(slot.start), end: ukText(slot.end) };
    this.#save(found, { ...found.content, ...time, slot: [{ reference: `Slot/${slot.id}` }] });
  }

  #save(stored: Stored, content: Json): Stored {
    stored.content = content;
    stored.version = this.#version();
    return stored;
  }

  #version(): number {
    return Math.floor(this.#now() / 1000) * 1000;
  }

  #slotAt(reference: string): Slot {
    if (!/^Slot\/[^/]+$/.test(reference)) throw invalid();
    const slot = this.#slots.get(reference.slice('Slot/'.length));
    if (!slot) throw new Refusal(500, 'BAD_REQUEST');
    return slot;
  }
}

export function startOf({ slots }: Stored): number {
  return slots[0]?.start ?? 0;
}

export function appointmentResource({ id, content, version }: Stored): object {
  return {
    resourceType: 'Appointment',
    id,
    meta: { versionId: String(version), profile: [profile('GPConnect-Appointment-1')] },
    ...content,
  };
}

function assertTextsFit(description: unknown, comment: unknown): void {
  if (String(description ?? '').length > 100 || String(comment ?? '').length > 500) throw invalid();
}

function assertBookingOrganisation(extension: unknown, contained: unknown): void {
  const reference = extensionsIn(extension).find(({ url }) => url === bookingUrl)?.valueReference?.reference;
  const list = (Array.isArray(contained) ? contained : []) as readonly Json[];
  const found = list.find((it) => it.resourceType === 'Organization' && `#${it.id}` === reference);
  const code = (found?.identifier as readonly Json[] | undefined)?.find(
    (it) => it.system === identifier('ods-organization-code'),
  );
  if (!code?.value) throw new Refusal(500, 'BAD_REQUEST');
  const hasPhone = (found?.telecom as readonly Json[] | undefined)?.some((it) => it.system === 'phone' && it.value);
  if (!found?.name || !hasPhone || profileOf(found.meta) !== profile('CareConnect-GPC-Organization-1')) throw invalid();
}

/** @returns the patient's id */
function assertParticipants(participant: unknown, { schedule }: Slot): string {
  const actors = references(Array.isArray(participant) ? participant.map((it) => (it as Json).actor) : []);
  const of = (type: string) => actors.filter((it) => it.startsWith(`${type}/`)).map((it) => it.slice(type.length + 1));
  const [patient] = of('Patient');
  const [location] = of('Location');
  const [practitioner] = of('Practitioner');
  if (patient === undefined || location === undefined || actors.some((it) => it.includes('://'))) throw invalid();
  if (!patients.some(({ id }) => id === patient)) throw new Refusal(500, 'BAD_REQUEST');
  if (location !== schedule.location) throw invalid();
  if (practitioner !== undefined && practitioner !== schedule.practitioner) throw invalid();
  return patient;
}

interface Extension {
  readonly url?: unknown;
  readonly valueString?: unknown;
  readonly valueReference?: { readonly reference?: unknown };
}

function extensionsIn(value: unknown): readonly Extension[] {
  return Array.isArray(value) ? (value as readonly Extension[]) : [];
}

function references(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).map((it) => String((it as Json | undefined)?.reference ?? ''));
}

function profileOf(meta: unknown): unknown {
  return (meta as { profile?: readonly unknown[] } | undefined)?.profile?.[0];
}

function invalid(): Refusal {
  return new Refusal(422, 'INVALID_RESOURCE');
}
