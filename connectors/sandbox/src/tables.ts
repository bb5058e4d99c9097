import type { AppointmentState } from '@crossward/connector-kit';
import type { Generated } from 'kysely';

interface ScheduleRow {
  emr: string;
  id: string;
  care_unit_id: string;
  resource_id: string;
  healthcare_service_ids: string[];
  local_start: string;
  local_end: string;
  slot_minutes: number;
  recurrence: string | null;
}

export interface AppointmentRow {
  emr: string;
  id: string;
  care_unit_id: string;
  patient_id: string;
  resource_id: string;
  healthcare_service_id: string;
  starts_at: Date;
  ends_at: Date;
  state: AppointmentState;
  held_until: Date | null;
  comment: string | null;
  created_at: Generated<Date>;
}

interface OperationRow {
  emr: string;
  operation_id: string;
  appointment_ids: string[];
  completed_at: Generated<Date>;
}

interface MedicalNoteRow {
  emr: string;
  id: string;
  care_unit_id: string;
  patient_id: string;
  author_id: string | null;
  title: string | null;
  text: string;
  appointment_id: string | null;
  created_at: Generated<Date>;
  is_entered_in_error: Generated<boolean>;
  operation_id: string;
  created_hash: string;
}

/** The tables that `migrations/` creates. */
export interface SandboxTables {
  'sandbox.schedules': ScheduleRow;
  'sandbox.appointments': AppointmentRow;
  'sandbox.operations': OperationRow;
  'sandbox.medical_notes': MedicalNoteRow;
}
