import type { Connector, ConnectorOperation } from '../connector.ts';
import type { DirectChanges } from '../direct-changes.ts';
import type { PatientIdentifier, ResourceIdentifier } from '../identifiers.ts';
import type { PatientCreation } from '../patients.ts';
import type { CareUnit, Patient, PatientDetails } from '../records.ts';
import type { OddRecords } from './odd-records.ts';
import type { TimedChanges } from './timed-changes.ts';

/**
 * Known facts about the EHR, so that the kit does not rely on the connector's own data. Use synthetic patients only: the
 * kit books appointments for them.
 */
export interface Facts {
  /** Identifiers of one patient, of all types. Absent: checks that need a patient or a booking are not run. */
  readonly patient?: readonly PatientIdentifier[] | undefined;
  /**
   * National numbers that the EHR has in another spelling than the normal form, such as `640823-3234`, one of each patient. Absent:
   * the EHR itself brings numbers into one form.
   */
  readonly numbersAsWritten?: readonly PatientIdentifier[] | undefined;
  /**
   * Patients whose phone number the EHR has as staff have written it, such as `+46 (0)70-174 06 05 (mother)`, by the EHR's own id,
   * with the number in E.164, or null for one that cannot exist.
   */
  readonly phonesAsWritten?: Readonly<Record<string, string | null>> | undefined;
  /** Another patient, by the EHR's own id; where identifiers pass through, as `{type}:{value}`. */
  readonly otherPatientId?: string | undefined;
  /** What bookings tell about the patient, where they have to. Default: a name. */
  readonly patientDetails?: PatientDetails | undefined;
  /** Valid identifiers that no patient has. Default: the `emr_id` `no-such-patient`. */
  readonly unknownPatients?: readonly PatientIdentifier[] | undefined;
  /** National numbers that the EHR has at several people. The connector guesses none of them. */
  readonly ambiguousPatients?: readonly PatientIdentifier[] | undefined;
  /** Patients whose record is out of use, or who have died: they can be found, and not booked. */
  readonly inactivePatients?: readonly PatientIdentifier[] | undefined;
  /** National numbers that no patient has. The kit creates a patient with each. Absent: it creates none. */
  readonly newPatients?: readonly PatientIdentifier[] | undefined;
  /** What a new patient of this EHR has to have besides, and what the EHR shows otherwise than it was sent, such as one name. */
  readonly newPatient?: { readonly fields: Partial<PatientCreation>; readonly shown: Partial<Patient> } | undefined;
  /** Identifiers of one resource of the care unit, of all types. Absent: the first with free slots. */
  readonly resource?: readonly ResourceIdentifier[] | undefined;
  /** Absent: the first service with free slots. */
  readonly healthcareServiceId?: string | undefined;
  /** A resource of `otherCareUnit`, by the EHR's own id. */
  readonly foreignResourceId?: string | undefined;
  /** Whether an appointment takes exactly one time slot. Booking a longer time then fails with `time_slot_unavailable`. */
  readonly oneSlotOnly?: boolean | undefined;
  /** Range to search for free slots. Default: sixty days from tomorrow. */
  readonly window?: { readonly start: Date; readonly end: Date } | undefined;
}

/** A period with a clock change in the care unit's time zone, and the slots expected in it. */
export interface ClockChange {
  /** For example `spring`. */
  readonly name: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
  /** The instant of the clock change. */
  readonly at: Date;
  /** The expected starts of all slots in the period, in order. */
  readonly slotStarts: readonly Date[];
}

/** A connector with a running EHR and known facts about it. Checks that need an absent field are "not checked". */
export interface Subject {
  /** For example `sandbox on PostgreSQL`. */
  readonly name: string;
  /** The current connector; `restart` replaces it. */
  readonly connector: Connector;
  readonly careUnit: CareUnit;
  /** Another configured care unit of the same EHR. */
  readonly otherCareUnit?: CareUnit | undefined;
  readonly facts: Facts;
  /** The clock that the connector was opened with. Default: that of this machine. */
  readonly now?: (() => Date) | undefined;
  /**
   * A second connection to the same EHR, as from another gateway. Open it with `connectorInProcess`: in the same process, a lock in a
   * variable would hide a race.
   */
  readonly second?: Connector | undefined;
  /**
   * Opens the connector in a process of its own, whose time zone is this one. Default: as `second` was opened with
   * `connectorInProcess`.
   */
  readonly inTimeZone?: ((timeZone: string) => Promise<Connector>) | undefined;
  /** How often each race is run. Default: ten times. */
  readonly raceRounds?: number | undefined;
  /** Ends the connector as if its process were killed, and opens a new one. */
  restart?: (() => Promise<void>) | undefined;
  readonly directChanges?: DirectChanges | undefined;
  readonly oddRecords?: OddRecords | undefined;
  readonly timedChanges?: TimedChanges | undefined;
  readonly clockChanges?: readonly ClockChange[] | undefined;
  /** Calls an operation through the gateway in front of the connector; rejects with the gateway's problem. */
  callGateway?: ((operation: ConnectorOperation) => Promise<unknown>) | undefined;
  close?: (() => Promise<void>) | undefined;
}

/** The subject with each of its connectors wrapped. */
export function withEachConnector(subject: Subject, wrap: (connector: Connector) => Connector): Subject {
  return Object.create(subject, {
    connector: { get: () => wrap(subject.connector) },
    second: { get: () => subject.second && wrap(subject.second) },
    inTimeZone: {
      get: () => {
        const { inTimeZone } = subject;
        return inTimeZone && (async (timeZone: string) => wrap(await inTimeZone(timeZone)));
      },
    },
  });
}
