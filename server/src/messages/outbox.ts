import type { Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';

export type Language = 'nb' | 'sv' | 'en';

/** A code on its way to a patient. */
export interface CodeMessage {
  readonly confirmationId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly kind: 'booking' | 'cancellation';
  readonly channel: Channel;
  /** E.164 number or e-mail address. */
  readonly to: string;
  readonly language: Language;
  readonly clinicName: string;
  readonly timeZone: string;
  /** What the code confirms, in the order of the answer: the first is shown, the rest counted. */
  readonly appointments: readonly { readonly id: string; readonly start: Date }[];
  readonly code: string;
  /** By the database's clock. After it nothing is sent any more. */
  readonly expiresAt: Date;
}

/** Messages leave from here: at least once, in the transaction that makes them or not at all. */
export interface Outbox {
  /** Puts the message into the transaction; it leaves when that commits. Supersedes older ones of the confirmation. */
  enqueue(tx: Tx, message: CodeMessage): Promise<void>;
  /** Whatever of this confirmation has not been sent is not sent any more. */
  withdraw(tx: Tx, confirmationIds: readonly string[]): Promise<void>;
  /** Lets what an operator has queued again leave. */
  resume(): Promise<void>;
}
