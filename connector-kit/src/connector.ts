import type { PostgresPool } from 'kysely';
import type { EhrHttp } from './http.ts';
import type {
  PatientIdentifier,
  PatientIdentifierType,
  ResourceIdentifier,
  ResourceIdentifierType,
} from './identifiers.ts';
import type { ProbeReport } from './probe.ts';
import type {
  Appointment,
  AppointmentState,
  CareUnit,
  HealthcareService,
  Patient,
  Resource,
  TimeSlot,
} from './records.ts';

/** What can be done to an appointment. */
export const changeKinds = ['create', 'update', 'cancel', 'confirm', 'extend', 'release'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/**
 * Facts about an EHR that change what the gateway does. What an EHR cannot do at all is not a flag: the connector
 * leaves the operation out, and the gateway answers `operation_unsupported`.
 */
export interface Capabilities {
  /** Always with `emr_id`. Any other type is refused before the EHR is asked. */
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  /** Always with `emr_id`. */
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  /**
   * What `changeAppointments` takes. Without `confirm`, `extend` and `release` the EHR cannot hold a time while a code is
   * awaited: the gateway keeps the booking to itself until the code has come, and the time may be gone by then.
   */
  readonly changes: readonly ChangeKind[];
  /**
   * Whether `changeAppointments` does several changes all or nothing. Where it cannot, it is called with one change at a
   * time, and refuses more with `unsupported`; the gateway undoes what was done when a later one fails.
   */
  readonly transactions: boolean;
  /**
   * How many changes `changeAppointments` does all or nothing, where there is a limit: three or more. It refuses more with
   * `unsupported`, and the gateway goes about them as without transactions. Absent: any number.
   */
  readonly changesPerTransaction?: number;
  /** Whether the EHR sends codes to patients and checks them: then the gateway passes them through. */
  readonly sendsCodes: boolean;
}

/** Whatever a list is ordered by, the last entry that the caller has already seen. */
export interface AppointmentPosition {
  readonly start: Date;
  readonly id: string;
}
export interface TimeSlotPosition {
  readonly start: Date;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
}

export interface AppointmentQuery {
  readonly careUnit: CareUnit;
  readonly patientId?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Appointments that overlap the range: `start < range.end` and `end > range.start`. */
  readonly range?: { readonly start: Date; readonly end: Date } | undefined;
  /** Empty or absent: all. */
  readonly states?: readonly AppointmentState[] | undefined;
  readonly after?: AppointmentPosition | undefined;
  readonly limit: number;
}

export interface TimeSlotQuery {
  readonly careUnit: CareUnit;
  /** Slots that lie wholly inside; those that have begun are left out. */
  readonly start: Date;
  readonly end: Date;
  /** Absent: every resource of the care unit. */
  readonly resourceIds?: readonly string[] | undefined;
  /** Absent: every healthcare service. */
  readonly healthcareServiceIds?: readonly string[] | undefined;
  /** Appointments whose time counts as free, since they are about to give it up. */
  readonly freeing?: readonly string[] | undefined;
  readonly after?: TimeSlotPosition | undefined;
  readonly limit: number;
}

/**
 * Every write carries an operation id, minted once by the gateway and kept across retries. The connector stores it in
 * the EHR together with the change, in one step where the EHR can: a second call with the same id changes nothing and
 * answers what the first one did.
 */
export interface Write {
  /** UUID. */
  readonly operationId: string;
  readonly careUnit: CareUnit;
}

/** Books a time, or holds it: then it is taken until `holdUntil`, by the EHR's clock, and free at once afterwards. */
export interface AppointmentCreation {
  readonly kind: 'create';
  readonly patientId: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
  readonly comment: string | null;
  readonly holdUntil: Date | null;
}

/** Changes a booked appointment. What is absent stays. Its own time counts as free. */
export interface AppointmentUpdate {
  readonly kind: 'update';
  readonly appointmentId: string;
  readonly time?: { readonly start: Date; readonly end: Date } | undefined;
  readonly resourceId?: string | undefined;
  readonly comment?: string | null | undefined;
}

/** Cancels a booked appointment and frees its time. What is cancelled already stays as it is. */
export interface AppointmentCancellation {
  readonly kind: 'cancel';
  readonly appointmentId: string;
  /** Replaces the appointment's comment; absent leaves it. */
  readonly comment?: string | null | undefined;
}

/** Books what is held. The EHR may do so after `holdUntil` as long as nobody has taken the time. */
export interface HoldConfirmation {
  readonly kind: 'confirm';
  readonly appointmentId: string;
}

/** Holds for longer. `appointment_not_held` when the hold has run out. */
export interface HoldExtension {
  readonly kind: 'extend';
  readonly appointmentId: string;
  readonly holdUntil: Date;
}

/**
 * Gives up a hold, also one that has run out, which then is cancelled for the EHR's own staff as well.
 * `appointment_not_held` when it has been booked; what is cancelled stays as it is.
 */
export interface HoldRelease {
  readonly kind: 'release';
  readonly appointmentId: string;
  /** Replaces the appointment's comment; absent leaves it. */
  readonly comment?: string | null | undefined;
}

export type AppointmentChange =
  | AppointmentCreation
  | AppointmentUpdate
  | AppointmentCancellation
  | HoldConfirmation
  | HoldExtension
  | HoldRelease;

export interface AppointmentWrite extends Write {
  readonly changes: readonly AppointmentChange[];
}

/** An EHR's own confirmation, while it waits for the code that it has sent. */
export interface EhrConfirmation {
  /** The EHR's name for it, for `confirmCode` and `resendCode`. */
  readonly reference: string;
  /** Booking: the appointment with state `held`. Cancellation: the appointment as it still is. */
  readonly appointment: Appointment;
  readonly channel: 'sms' | 'email';
  readonly expiresAt: Date;
  readonly attemptsRemaining: number;
}

/**
 * What an EHR can be asked. A connector implements those that its EHR has. All throw `ConnectorError` and nothing else
 * on purpose; anything else is taken for a bug. Ids in queries are the EHR's own (`emr_id` values).
 */
export interface ConnectorOperations {
  /** The patient that has this identifier. `null`: none has it. */
  findPatient(identifier: PatientIdentifier): Promise<Patient | null>;

  /** The resource of this care unit that has this identifier. `null`: none, or one of another care unit. */
  findResource(careUnit: CareUnit, identifier: ResourceIdentifier): Promise<Resource | null>;
  /** All resources of the care unit, by id (code unit order). */
  listResources(careUnit: CareUnit): Promise<readonly Resource[]>;

  /** All services that can be booked in the care unit, by id (code unit order). */
  listHealthcareServices(careUnit: CareUnit): Promise<readonly HealthcareService[]>;

  /** Free time slots, by start, resource id, service id (code unit order): at most `limit`, after `after`. */
  listTimeSlots(query: TimeSlotQuery): Promise<readonly TimeSlot[]>;

  /** Those of the appointments that this care unit has, in any order. */
  findAppointments(careUnit: CareUnit, appointmentIds: readonly string[]): Promise<readonly Appointment[]>;
  /** Appointments by start, id (code unit order): at most `limit`, after `after`. */
  listAppointments(query: AppointmentQuery): Promise<readonly Appointment[]>;

  /**
   * Does all changes or none, and answers the appointments in the order of the changes. Cancellations free their time
   * for the other changes.
   *
   * A time that is booked, held or moved to must start where a free time slot of the resource and service starts, end
   * where one ends, and be covered by free slots without a gap; else `time_slot_unavailable`. Of any number of calls for
   * one time, however they race, one succeeds.
   */
  changeAppointments(write: AppointmentWrite): Promise<readonly Appointment[]>;
  /**
   * The appointments that the write with this operation id left behind, in its order. `null`: it was never done. A
   * connector that has it does nothing twice under one operation id; one without it is told no write a second time.
   */
  findOperation(careUnit: CareUnit, operationId: string): Promise<readonly Appointment[] | null>;

  /** For an EHR that sends codes: starts a booking, and sends the patient a code. */
  requestBooking(request: Write & { readonly creation: AppointmentCreation }): Promise<EhrConfirmation>;
  /** For an EHR that sends codes: starts a cancellation, and sends the patient a code. */
  requestCancellation(request: Write & { readonly cancellation: AppointmentCancellation }): Promise<EhrConfirmation>;
  /** For an EHR that sends codes: sends a fresh one. */
  resendCode(request: Write & { readonly reference: string }): Promise<EhrConfirmation>;
  /** For an EHR that sends codes: `code_incorrect`, `code_expired` and `code_locked` say why a code is not taken. */
  confirmCode(request: Write & { readonly reference: string; readonly code: string }): Promise<Appointment>;
}

export type ConnectorOperation = keyof ConnectorOperations;

/** One connection to one EHR, alive from the gateway's start to its stop. */
export interface Connector extends Partial<ConnectorOperations> {
  readonly capabilities: Capabilities;
}

/** A care unit as the configuration has it. */
export interface ConfiguredCareUnit extends CareUnit {
  /** What the connector wants to know about this care unit. The connector checks it when it opens. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** What the gateway passes to a connector when it opens a connection. */
export interface ConnectorContext<Settings> {
  /** The connection's id, `{emr}` in the paths. */
  readonly emr: string;
  /** Checked against the connector's `settingsSchema`. Each `{ env: NAME }` has become a `SecretValue`. */
  readonly settings: Settings;
  readonly careUnits: readonly ConfiguredCareUnit[];
  /** The way to the EHR, for a connector that speaks HTTP. */
  readonly http: EhrHttp;
}

/** The context of a connector with migrations. */
export interface DatabaseContext<Settings> extends ConnectorContext<Settings> {
  /** The gateway's database. */
  readonly database: PostgresPool;
}

interface ModuleWith<Context> {
  /** The name in the configuration's `connector`. */
  readonly name: string;
  /** JSON Schema of the connection's `settings`. A secret is a `secretSchema`. */
  readonly settingsSchema: object;
  open(context: Context): Promise<Connector>;
  /**
   * Looks at the server behind the settings, before anybody trusts the connection: whether it can be reached and signed
   * in to, what it can do, and which settings suit it. `crossward emr check` shows it. What goes wrong is a finding;
   * nothing is thrown on purpose. What it writes in the EHR to find out, it takes back.
   */
  probe?(context: Context): Promise<ProbeReport>;
}

/** A connector that keeps its data in the EHR. It gets no database. */
export interface StatelessConnectorModule<Settings = unknown> extends ModuleWith<ConnectorContext<Settings>> {
  readonly migrations?: never;
}

/** A connector that keeps data in the gateway's database, in tables that its migrations create. */
export interface DatabaseConnectorModule<Settings = unknown> extends ModuleWith<DatabaseContext<Settings>> {
  /** Folder of numbered SQL files. */
  readonly migrations: URL;
}

/** One kind of EHR: what a connector's folder exports. */
export type ConnectorModule<Settings = unknown> =
  | StatelessConnectorModule<Settings>
  | DatabaseConnectorModule<Settings>;
