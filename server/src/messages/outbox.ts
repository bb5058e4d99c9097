import type { Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';

export type MessageLanguage = 'nb' | 'sv' | 'en';

/** A message with a code for a patient. */
export interface CodeMessage {
  readonly confirmationId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly kind: 'booking' | 'cancellation';
  readonly channel: Channel;
  /** E.164 number or e-mail address. */
  readonly to: string;
  readonly language: MessageLanguage;
  readonly clinicName: string;
  readonly timeZone: string;
  /** The page where the patient can enter the code, if the message should contain a link to it. */
  readonly pageUrl: string | null;
  /** What the code confirms, in the order of the response. The message shows the first one and the number of all. */
  readonly appointments: readonly { readonly id: string; readonly start: Date }[];
  readonly code: string;
  /** By the database's clock. Not sent after this time. */
  readonly expiresAt: Date;
}

/** Sends messages at least once, if the transaction that enqueued them commits. */
export interface Outbox {
  /** Enqueues the message; it is sent after the transaction commits. Supersedes older messages of the confirmation. */
  enqueue(tx: Tx, message: CodeMessage): Promise<void>;
  /** Withdraws the unsent messages of these confirmations. */
  withdraw(tx: Tx, confirmationIds: readonly string[]): Promise<void>;
  /** Starts attempts that are due, and does not wait for them. */
  send(): Promise<void>;
  /** Takes over messages that a gateway of version 0.1.0 has queued and does not send. */
  adopt(): Promise<void>;
  /** Marks queued messages that are late, with their events. Returns whether there can be more. */
  markDelayed(): Promise<boolean>;
}
