import type { CareUnit, Resource } from '@crossward/connector-kit';
import type { FhirAppointment, FhirSlot } from './fhir.ts';
import type { Place } from './mappers/appointment.ts';
import type { BookableService } from './mappers/healthcare-service.ts';

/** The service of an appointment that names none. */
export const unknownService = 'unknown';

/** Whose schedule or slot it is, and what it can be booked for. */
export interface Offer {
  readonly resourceId: string;
  readonly services: readonly BookableService[];
}

/** Who can be booked in a care unit, and for what. */
export interface CareUnitDirectory extends Place {
  /** Every resource of the care unit that an appointment names. The first is its own. */
  resourcesOf(appointment: FhirAppointment): readonly string[];
  readonly location: string | undefined;
  /** Those that can be booked, by id. */
  readonly resources: readonly Resource[];
  /** The ids of those that can be booked, and of those that no longer can: they may still have appointments. */
  readonly knownIds: readonly string[];
  /** By id. */
  readonly services: readonly BookableService[];
  /** `Practitioner/1` of a resource's id. `undefined`: it cannot be booked in this care unit. */
  referenceOf(resourceId: string): string | undefined;
  /** Every reference by which appointments may name a known resource: its own, and that of each role here. */
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
  /** Reads it anew: a schedule may be new. */
  reload(careUnit: Pick<CareUnit, 'id'>): Promise<CareUnitDirectory>;
}
