import type { Generated } from 'kysely';

export type Channel = 'sms' | 'email';

interface MessageRow {
  id: string;
  confirmation_id: string;
  sequence: number;
  emr: string;
  care_unit_id: string;
  channel: Channel;
  first_appointment_id: string;
  sealed_content: Buffer | null;
  state: Generated<'queued' | 'sent' | 'failed' | 'superseded'>;
  /** Of gateways of version 0.1.0. */
  not_before: Date | null;
  expires_at: Date;
  created_at: Generated<Date>;
  completed_at: Date | null;
  failure_reason: string | null;
  delayed_at: Date | null;
  queued_again_at: Date | null;
  receipt_hash: Buffer | null;
  delivered_at: Date | null;
  next_attempt_at: Date | null;
  attempts: number | null;
  /** Of gateways of version 0.1.0. */
  needs_job: Generated<boolean>;
}

interface DemoMailboxRow {
  id: string;
  emr: string;
  care_unit_id: string;
  channel: Channel;
  appointment_id: string;
  sealed_content: Buffer;
  sent_at: Generated<Date>;
}

export interface MessageTables {
  messages: MessageRow;
  demo_mailbox: DemoMailboxRow;
}
