import type { IncomingHttpHeaders } from 'node:http';
import {
  type FhirAppointment,
  type FhirIdentifier,
  type FhirPatient,
  type FhirResource,
  type FhirSchedule,
  localReference,
} from '../src/fhir.ts';
import { actorsOf, slotsOf } from '../src/mappers/appointment.ts';
import { Rejected, type Store, type Stored } from './store.ts';

/**
 * Rules of a server that was built for one portal. They follow what Cambio has published of COSMIC Open Services; what that
 * leaves open was chosen here, and the page about vendors names it.
 */
export interface OwnRules {
  /** The header that names the patient by a number of this system, in each call about Slots and Appointments. */
  readonly patientHeader?: { readonly name: string; readonly system: string };
  /** The parameters of a search for the free Slots of one service in one care unit, on one day. */
  readonly slots: { readonly unit: string; readonly service: string; readonly moved: string };
  /** The places of the care units, by the values of the parameter `slots.unit`. */
  readonly units: Readonly<Record<string, string>>;
}

const dayMilliseconds = 24 * 60 * 60 * 1000;

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
  const number = headers[rules.patientHeader.name.toLowerCase()];
  if (number === undefined) throw new Rejected(400, 'required');
  const { system } = rules.patientHeader;
  // Staff have written some numbers without the century.
  const isTheirs = (it: FhirIdentifier) => it.system === system && String(number).endsWith(it.value ?? ' ');
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
