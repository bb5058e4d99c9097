import type { Generated } from 'kysely';
import type { Channel } from './messages.ts';

export type ConfirmationKind = 'booking' | 'cancellation';
export type ItemState = 'pending' | 'confirming' | 'confirmed' | 'released' | 'expiring' | 'expired';

interface ConfirmationRow {
  id: string;
  client_id: string;
  emr: string;
  care_unit_id: string;
  kind: ConfirmationKind;
  channel: Channel;
  code_hash: Buffer | null;
  page_token_hash: Buffer | null;
  sealed_return_url: Buffer | null;
  failed_attempts: Generated<number>;
  max_attempts: number;
  codes_sent: Generated<number>;
  last_code_sent_at: Generated<Date>;
  expires_at: Date;
  patient_hash: Buffer | null;
  created_at: Generated<Date>;
  confirmed_at: Date | null;
  purged_at: Generated<Date | null>;
}

interface ConfirmationItemRow {
  emr: string;
  appointment_id: string;
  confirmation_id: string;
  care_unit_id: string;
  position: number;
  kind: ConfirmationKind;
  state: Generated<ItemState>;
  ehr_appointment_id: string | null;
  replaces_id: string | null;
  sealed_comment: Buffer | null;
  sealed_draft: Buffer | null;
  sealed_patient_details: Buffer | null;
  patient_hash: Buffer | null;
  draft_resource_id: string | null;
  draft_start: Date | null;
  draft_end: Date | null;
  /** Id of the write that confirms or expires it. */
  operation_id: Generated<string | null>;
}

export interface ConfirmationTables {
  confirmations: ConfirmationRow;
  confirmation_items: ConfirmationItemRow;
}
