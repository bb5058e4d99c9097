import type { CareUnit, Resource } from '@crossward/connector-kit';
import type { FhirAppointment, FhirSlot } from '../fhir.ts';
import type { AppointmentIds } from '../mappers/appointment.ts';
import type { BookableService } from '../mappers/healthcare-service.ts';

/** The resource of a schedule or slot, and the services for which it can be booked. */
export interface Offer {
  readonly resourceId: string;
  readonly services: readonly BookableService[];
}

/** The resources of a care unit that can be booked, and their services. */
export interface CareUnitDirectory extends AppointmentIds {
  /** The id of the resource whose time an appointment takes. `undefined`: it names none of the care unit. */
  resourceOf(appointment: FhirAppointment): string | undefined;
  /** Every resource of the care unit that an appointment names. The first is the appointment's own. */
  resourcesOf(appointment: FhirAppointment): readonly string[];
  readonly location: string | undefined;
  readonly organization: string | undefined;
  /** The care unit in searches for Slots: the setting `slot_unit`. */
  readonly slotUnit: string | undefined;
  /** Whether a Location, Organization or PractitionerRole is of this care unit or of another one. */
  sideOf(reference: string): 'here' | 'elsewhere' | 'unknown';
  /** `Practitioner/1` of a PractitionerRole that is known here. */
  practitionerOf(role: string): string | undefined;
  /** Those that can be booked, by id. */
  readonly resources: readonly Resource[];
  /** The ids of resources that can be booked, and of former ones, which may still have appointments. */
  readonly knownIds: readonly string[];
  /**
   * Other references by which an appointment of this care unit may name it: its location, its roles and its services. An
   * appointment stays where it was booked when the schedule of its practitioner moves to another care unit.
   */
  readonly placeNames: readonly string[];
  /** By id. */
  readonly services: readonly BookableService[];
  /** Whether the services are those of Slots and Schedules, because neither the server nor the settings name any. */
  readonly derivesServices: boolean;
  /** `Practitioner/1` of a resource's id. `undefined`: it cannot be booked in this care unit. */
  referenceOf(resourceId: string): string | undefined;
  /** Every reference by which appointments may name a known resource: its own, and that of each of its roles here. */
  namesOf(resourceId: string): readonly string[];
  schedulesOf(resourceIds: readonly string[] | undefined): readonly string[];
  /** The actors of schedules, as the schedules name them, for a search by `schedule.actor`. */
  actorsOf(schedules: readonly string[]): readonly string[];
  /** `null`: not of this care unit, or it cannot be booked. */
  offerOfSchedule(schedule: string): Offer | null;
  /** `null`: not of this care unit, or it cannot be booked. */
  offerOf(slot: FhirSlot): Offer | null;
}

export interface Directory {
  of(careUnit: Pick<CareUnit, 'id'>): Promise<CareUnitDirectory>;
  /**
   * Looks something up. What is not found is looked up once more in a directory that is a few seconds old at most: it may
   * be new.
   */
  find<Found>(
    careUnit: Pick<CareUnit, 'id'>,
    look: (directory: CareUnitDirectory) => Found | undefined,
  ): Promise<Found | undefined>;
  /** The directory that is cached. `undefined`: none was read yet. */
  known(careUnit: Pick<CareUnit, 'id'>): CareUnitDirectory | undefined;
  /** A directory that is a few seconds old at most. Concurrent callers share one reading. */
  fresh(careUnit: Pick<CareUnit, 'id'>): Promise<CareUnitDirectory>;
  /** Reads it anew: a schedule may be new. */
  reload(careUnit: Pick<CareUnit, 'id'>): Promise<CareUnitDirectory>;
}
