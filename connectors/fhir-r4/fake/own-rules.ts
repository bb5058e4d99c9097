import type { IncomingHttpHeaders } from 'node:http';
import {
  type FhirAppointment,
  type FhirIdentifier,
  type FhirPatient,
  type FhirResource,
  type FhirSchedule,
  localReference,
  type Participant,
} from '../src/fhir.ts';
import { actorsOf, slotsOf } from '../src/mappers/appointment.ts';
import type { Reply } from './habits.ts';
import { actorsOf as actorsOfSlot, isKept } from './scheduling.ts';
import { Rejected, type Store, type Stored } from './store.ts';

/**
 * Rules of a server that was built for one portal. They follow what Cambio has published of COSMIC Open Services; what that
 * leaves open was chosen here, and the page about vendors names it.
 */
export interface OwnRules {
  /** The header that names the patient by a number, in each call about Slots and Appointments. */
  readonly patientHeader?: string;
  /** Whether it shows no versions. */
  readonly hidesVersions?: boolean;
  /** The parameters of a search for the free Slots of one service in one care unit, on one day. */
  readonly slots: { readonly unit: string; readonly service: string; readonly moved: string };
  /** The profiles that a booking, a move and a cancellation name, and the extension for their messages. */
  readonly changes: {
    readonly profiles: Readonly<Record<'create' | 'update' | 'cancel', string>>;
    readonly message: string;
  };
  /** The places of the care units, by the values of the parameter `slots.unit`. */
  readonly units: Readonly<Record<string, string>>;
}

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** An answer without the versions of resources. */
export function withoutVersions({ resource, headers, ...reply }: Reply): Reply {
  const { etag: _, ...others } = headers ?? {};
  const shown = JSON.stringify(resource ?? null, (name, value) => (name === 'versionId' ? undefined : value));
  return { ...reply, resource: JSON.parse(shown) ?? undefined, headers: others };
}

/** Such a server has no roles: each Schedule names the practitioner and the place of its role. */
export function nameActorsThemselves(store: Store): void {
  for (const schedule of store.all('Schedule') as (Stored & FhirSchedule)[]) {
    const actor = (schedule.actor ?? []).flatMap((it) => {
      const reference = localReference(it) ?? '';
      if (!reference.startsWith('PractitionerRole/')) return [it];
      const { practitioner, location } = store.get(reference) as unknown as Record<string, object & object[]>;
      return [practitioner, ...(location ?? [])];
    });
    store.save({ ...schedule, actor } as FhirResource);
  }
}

/** The id of the patient whom a call about Slots or Appointments names. `undefined`: it is about something else. */
export function patientNamed(
  store: Store,
  rules: OwnRules | undefined,
  type: string,
  headers: IncomingHttpHeaders,
): string | undefined {
  if (!rules?.patientHeader || (type !== 'Slot' && type !== 'Appointment')) return undefined;
  const number = headers[rules.patientHeader.toLowerCase()];
  if (number === undefined) throw new Rejected(400, 'required');
  // Staff have written some numbers without the century.
  const isTheirs = (it: FhirIdentifier) => String(number).endsWith(it.value ?? ' ');
  const patient = (store.all('Patient') as (Stored & FhirPatient)[]).find((it) => it.identifier?.some(isTheirs));
  if (patient?.id === undefined) throw new Rejected(403, 'forbidden');
  return patient.id;
}

export function namesPatient(resource: FhirResource, patientId: string): boolean {
  return actorsOf(resource as FhirAppointment).includes(`Patient/${patientId}`);
}

/** The patient in the header must be the one of the Appointment. */
export function assertNames(patientId: string, resource: FhirResource): void {
  if (!namesPatient(resource, patientId)) throw new Rejected(403, 'forbidden');
}

/** Free Slots, and those of the appointment that is to be moved. Both bounds are exclusive. */
export function slotsByService(
  store: Store,
  { slots: { unit, service, moved }, units }: OwnRules,
  form: URLSearchParams,
): Stored[] {
  const [after = Number.NaN, before = Number.NaN] = ['gt', 'lt'].map((prefix) =>
    Date.parse(
      form
        .getAll('start')
        .find((it) => it.startsWith(prefix))
        ?.slice(2) ?? '',
    ),
  );
  const place = units[form.get(unit) ?? ''];
  if (place === undefined || !(before - after <= dayMilliseconds)) throw new Rejected(400, 'invalid');
  const movedId = form.get(moved);
  const own = movedId === null ? [] : slotsOf(store.get(`Appointment/${movedId}`) as unknown as FhirAppointment);
  const schedules = new Set(
    (store.all('Schedule') as (Stored & FhirSchedule)[])
      .filter((it) => isAt(store, it, place) && JSON.stringify(it.serviceType).includes(`"${form.get(service)}"`))
      .map(({ id }) => `Schedule/${id}`),
  );
  return store.all('Slot').flatMap((slot) => {
    const start = Date.parse(String(slot.start));
    const isFree = slot.status === 'free' || own.includes(`Slot/${slot.id}`);
    const isWanted = start > after && start < before && schedules.has(localReference(slot.schedule as object) ?? '');
    return isFree && isWanted ? [{ ...slot, status: 'free', serviceType: undefined }] : [];
  });
}

function isAt(store: Store, { actor = [] }: FhirSchedule, place: string): boolean {
  const places = actor.flatMap((it) => localReference(it) ?? []).filter((it) => it.startsWith('Location/'));
  return places.some((it) => it === place || localReference(store.get(it).partOf as object) === place);
}

const elements = {
  create: ['resourceType', 'meta', 'status', 'participant', 'slot', 'extension'],
  update: ['resourceType', 'id', 'meta', 'status', 'slot', 'extension'],
  cancel: ['resourceType', 'id', 'meta', 'status', 'extension'],
} as const;

/**
 * The Appointment that a body makes of the stored one. A booking and a move are sent, and kept, with the status `proposed`. What
 * is not in a body stays, except for the message.
 */
export function changedBy(
  store: Store,
  rules: OwnRules,
  before: Stored | undefined,
  body: FhirAppointment,
): FhirAppointment {
  const { profiles, message } = rules.changes;
  const kind = !before ? 'create' : body.status === 'cancelled' ? 'cancel' : 'update';
  const { extension = [] } = body;
  const isInProfile =
    body.meta?.profile?.join() === profiles[kind] &&
    body.status === (kind === 'cancel' ? 'cancelled' : 'proposed') &&
    Object.keys(body).every((name) => (elements[kind] as readonly string[]).includes(name)) &&
    extension.every(({ url }) => url === message);
  if (!isInProfile) throw new Rejected(422, 'structure');
  const { meta: _, ...given } = body;
  if (!before) return given;
  if (before.status !== 'proposed' && before.status !== 'booked') throw new Rejected(422, 'business-rule');
  const { extension: _former, ...stored } = before as unknown as FhirAppointment;
  const changed = { ...stored, ...given, ...(extension.length > 0 ? { extension } : {}) };
  return given.slot ? inItsSlots(store, changed) : changed;
}

/** The time and the practitioner are those of the Slots. */
function inItsSlots(store: Store, appointment: FhirAppointment): FhirAppointment {
  const slots = slotsOf(appointment).map((it) => store.get(it));
  const [first] = slots;
  const others = (appointment.participant ?? []).filter(({ actor }) => isKept(actor));
  if (!first) throw new Rejected(422, 'business-rule');
  const { start, end } = { start: first.start as string, end: slots.at(-1)?.end as string };
  return { ...appointment, start, end, participant: [...others, ...actorsOfSlot(store, first)] as Participant[] };
}
