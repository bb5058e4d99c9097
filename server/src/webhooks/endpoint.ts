import type { DisabledReason } from '../db/tables/webhooks.ts';

/** A webhook endpoint of a client, decrypted. */
export interface Endpoint {
  readonly id: string;
  readonly clientId: string;
  readonly url: string;
  readonly secret: string;
  /** Signs too, until it expires. */
  readonly previousSecret: string | null;
  readonly previousSecretExpiresAt: Date | null;
  /** `null`: all. */
  readonly eventTypes: readonly string[] | null;
  readonly disabledReason: DisabledReason | null;
  readonly isReplaying: boolean;
  readonly createdAt: Date;
}
