import type { AppointmentState, Attendance } from '@crossward/connector-kit';
import type { Generated } from 'kysely';

interface EhrChangeFeedRow {
  emr: string;
  cursor: string | null;
  connector: string | null;
  lease_token: string | null;
  next_read_at: Generated<Date>;
  caught_up_at: Generated<Date>;
}

/** An appointment as a care unit shows it. */
export interface AppointmentView {
  readonly care_unit_id: string;
  readonly state: AppointmentState;
  /** ISO 8601. */
  readonly start: string;
  /** `null`, here and below: the EHR does not say it. */
  readonly end: string | null;
  readonly resource_id: string | null;
  readonly healthcare_service_id: string | null;
  /** Absent: stored by a gateway that did not read it. */
  readonly attendance?: Attendance | null;
}

export interface EhrChangeRow {
  emr: string;
  appointment_id: string;
  views: readonly AppointmentView[];
  is_new: boolean;
  read_at: Date;
  stored_at: Date;
  is_stale: Generated<boolean>;
  is_checked: Generated<boolean>;
}

export interface EhrChangeTables {
  ehr_change_feeds: EhrChangeFeedRow;
  ehr_changes: EhrChangeRow;
}
