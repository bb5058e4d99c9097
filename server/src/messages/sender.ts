import type { Channel } from '../db/tables/messages.ts';

/** A message as a provider gets it. */
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
  /** Where the provider should report what becomes of this attempt. A secret of this gateway and the provider. */
  readonly receiptUrl?: string;
}

/** A request of a provider to a `receiptUrl`. */
export interface ReceiptRequest {
  /** The `receiptUrl`, as the provider got it. */
  readonly url: string;
  header(name: string): string | undefined;
  readonly form: URLSearchParams;
}

/**
 * What a provider reports about a message that it has accepted.
 *
 * - `interim`: nothing final
 * - `rejected`: the request is not signed by the provider
 * - `failure`: a fixed word or the provider's code, as in `DeliveryFailure`
 */
export type Receipt = 'delivered' | 'interim' | 'rejected' | { readonly failure: string };

/** Sends messages through one provider. */
export interface Sender {
  /** Host and port of the provider. Absent: it is not reached over the network. */
  readonly address?: string;
  /**
   * Returns once the provider has accepted the message.
   *
   * @throws {TemporaryFailure} when a later attempt may succeed
   * @throws {PermanentFailure} when no later attempt will
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  /** Absent: the provider reports nothing, and `receiptUrl` is not used. */
  readReceipt?(request: ReceiptRequest): Receipt;
}

/** A sender outside the gateway. */
export interface Provider extends Sender {
  readonly address: string;
  /**
   * Connects, and checks the credentials if the provider has a request for that. Sends no message.
   *
   * @returns what the provider has shown, in words
   * @throws {TemporaryFailure | PermanentFailure} as `send` does
   */
  greet(signal: AbortSignal): Promise<string>;
}

export interface Senders {
  readonly sms?: Sender;
  readonly email?: Sender;
}

/** `reason` is a fixed word or the provider's status code. It is logged, so it must not be the provider's text. */
abstract class DeliveryFailure extends Error {
  readonly reason: string;

  constructor(name: string, reason: string) {
    super(reason);
    this.name = name;
    this.reason = reason;
  }
}

export class TemporaryFailure extends DeliveryFailure {
  /** How long the provider asks to wait. */
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
