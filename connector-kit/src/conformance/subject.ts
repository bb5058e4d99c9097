import type { Connector, ConnectorOperation } from '../connector.ts';
import type { PatientIdentifier, ResourceIdentifier } from '../identifiers.ts';
import type { Appointment, CareUnit, TimeSlot } from '../records.ts';

/**
 * What the kit may know beforehand about an EHR, so that it need not believe the connector. People are synthetic: the
 * kit books times for them.
 */
export interface Facts {
  /** Identifiers of one patient, as many types as there are. Absent: nothing about patients is checked, nothing booked. */
  readonly patient?: readonly PatientIdentifier[] | undefined;
  /** Another patient, by the EHR's own id. */
  readonly otherPatientId?: string | undefined;
  /** Well-formed identifiers that nobody has. Absent: an `emr_id` that no EHR gives out. */
  readonly unknownPatients?: readonly PatientIdentifier[] | undefined;
  /** Identifiers of one resource of the care unit, as many types as there are. Absent: the first that has free slots. */
  readonly resource?: readonly ResourceIdentifier[] | undefined;
  /** Absent: the first service with which the resource has free slots. */
  readonly healthcareServiceId?: string | undefined;
  /** A resource of `otherCareUnit`, by the EHR's own id. */
  readonly foreignResourceId?: string | undefined;
  /** Whether an appointment takes exactly one time slot: booking a longer time is `time_slot_unavailable`. */
  readonly oneSlotOnly?: boolean | undefined;
  /** Where free slots are looked for. Absent: from tomorrow, sixty days. */
  readonly window?: { readonly start: Date; readonly end: Date } | undefined;
}

/** Changes made in the EHR past the gateway, as its own staff would make them. */
export interface BehindItsBack {
  cancel?(appointment: Appointment): Promise<void>;
  comment?(appointment: Appointment, text: string): Promise<void>;
  /** Takes the time for somebody else. The answer gives it back. */
  take?(slot: TimeSlot): Promise<() => Promise<void>>;
}

/** A stretch of time in which the clock of the care unit is changed, and the slots that are free in it. */
export interface ClockChange {
  /** Such as `spring`. */
  readonly name: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
  /** The first instant by the new clock. */
  readonly at: Date;
  /** Where every slot of the stretch starts, in order. */
  readonly slotStarts: readonly Date[];
}

/** A connector over a live counterpart, with whatever is known about it. What is absent shows as "not checked". */
export interface Subject {
  /** Such as `sandbox on PostgreSQL`. */
  readonly name: string;
  /** The one in use: after `restart`, the new one. */
  readonly connector: Connector;
  readonly careUnit: CareUnit;
  /** Another care unit of the same EHR, configured as well. */
  readonly otherCareUnit?: CareUnit | undefined;
  readonly facts: Facts;
  /** A connection of another gateway to the same EHR. */
  readonly second?: Connector | undefined;
  /** Ends the connector as a killed process ends, whatever it is doing, and opens a new one. */
  restart?: (() => Promise<void>) | undefined;
  readonly behindItsBack?: BehindItsBack | undefined;
  readonly clockChanges?: readonly ClockChange[] | undefined;
  /** For an EHR that sends codes: the newest code that it has sent for the reference. */
  codeSent?: ((reference: string) => Promise<string>) | undefined;
  /** Asks for an operation through the gateway in front of the connector, and fails as the gateway fails. */
  askGateway?: ((operation: ConnectorOperation) => Promise<unknown>) | undefined;
  close?: (() => Promise<void>) | undefined;
}
