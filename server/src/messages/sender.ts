import type { Channel } from '../db/tables/messages.ts';

/** A message as it leaves. */
export interface OutgoingMessage {
  /** The same on every attempt. */
  readonly id: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly channel: Channel;
  /** E.164 number or e-mail address. */
  readonly to: string;
  /** E-mail only. */
  readonly subject?: string;
  readonly text: string;
  readonly appointmentId: string;
}

/** One way to send. */
export interface Sender {
  /**
   * Returns once the provider has accepted the message.
   *
   * @throws {TemporaryFailure} when the same may succeed later
   * @throws {PermanentFailure} when it will not
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<void>;
}

export interface Senders {
  readonly sms?: Sender;
  readonly email?: Sender;
}

/** `reason` is a word of ours or a provider's number, never its text: it is logged. */
abstract class DeliveryFailure extends Error {
  readonly reason: string;

  constructor(name: string, reason: string) {
    super(reason);
    this.name = name;
    this.reason = reason;
  }
}

export class TemporaryFailure extends DeliveryFailure {
  /** How long the provider wants to be left alone. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, retryAfterSeconds?: number) {
    super('TemporaryFailure', reason);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export class PermanentFailure extends DeliveryFailure {
  constructor(reason: string) {
    super('PermanentFailure', reason);
  }
}
