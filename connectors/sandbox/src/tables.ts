import type { Address, AppointmentState, Attendance, Gender, PatientIdentifierType } from '@crossward/connector-kit';
import { statementsOf } from '@crossward/connector-kit/database';
import type { Generated, JSONColumnType } from 'kysely';

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

/** What a write did to a schedule. `none`: it was withdrawn before it was done. */
export interface ScheduleWriteEntry {
  schedule_id: string;
  kind: 'create' | 'end' | 'exception' | 'none';
  starts_at?: Date | null;
  ends_at?: Date | null;
}

interface ScheduleWriteRow extends ScheduleWriteEntry {
  emr: string;
  operation_id: string;
  withdrawn: Generated<boolean>;
}

interface ScheduleVersionRow {
  emr: string;
  version: number;
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
  attendance: Attendance | null;
  created_at: Generated<Date>;
  /** The transaction that last changed it. */
  changed_by: Generated<string>;
  changed_at: Generated<Date>;
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

/** A patient whom a caller has created. */
interface PatientRow {
  emr: string;
  id: string;
  identifier_type: PatientIdentifierType;
  identifier_value: string;
  given_name: string;
  family_name: string;
  birth_date: string;
  gender: Gender | null;
  phone: string | null;
  email: string | null;
  address: JSONColumnType<Address> | null;
  operation_id: string;
}

interface DocumentRow {
  emr: string;
  id: string;
  care_unit_id: string;
  patient_id: string;
  author_id: string | null;
  title: string | null;
  content_type: string;
  size: number;
  content_id: string;
  operation_id: string;
  created_at: Generated<Date>;
  changed_at: Generated<Date | null>;
  is_entered_in_error: Generated<boolean>;
}

interface DocumentChunkRow {
  emr: string;
  content_id: string;
  position: number;
  content: Buffer;
}

/** The tables that `migrations/` creates. */
export interface SandboxTables {
  'sandbox.schedules': ScheduleRow;
  'sandbox.schedule_writes': ScheduleWriteRow;
  'sandbox.schedule_versions': ScheduleVersionRow;
  'sandbox.appointments': AppointmentRow;
  'sandbox.operations': OperationRow;
  'sandbox.patients': PatientRow;
  'sandbox.medical_notes': MedicalNoteRow;
  'sandbox.documents': DocumentRow;
  'sandbox.document_chunks': DocumentChunkRow;
}

/** Declares a statement on these tables that is compiled once. */
export const statement = statementsOf<SandboxTables>();
