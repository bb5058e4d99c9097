import type { AppointmentState } from '@crossward/connector-kit';
import type { Generated } from 'kysely';

interface EhrChangeFeedRow {
  emr: string;
  cursor: string | null;
  connector: string | null;
  lease_token: string | null;
  next_read_at: Generated<Date>;
  caught_up_at: Generated<Date>;
}

export interface EhrChangeRow {
  emr: string;
  appointment_id: string;
  care_unit_id: string;
  state: AppointmentState;
  starts_at: Date;
  ends_at: Date;
  resource_id: string;
  healthcare_service_id: string;
  is_new: boolean;
  read_at: Date;
  stored_at: Date;
  is_stale: Generated<boolean>;
}

export interface EhrChangeTables {
  ehr_change_feeds: EhrChangeFeedRow;
  ehr_changes: EhrChangeRow;
}
