import type { DisabledReason } from '../db/tables/webhooks.ts';

export interface PreviousSecret {
  readonly secret: string;
  readonly expiresAt: Date;
}

/** A webhook endpoint of a client, decrypted. */
export interface Endpoint {
  readonly id: string;
  readonly clientId: string;
  readonly url: string;
  readonly secret: string;
  /** Those that are still valid, the newest first. They sign too. */
  readonly previousSecrets: readonly PreviousSecret[];
  /** `null`: all. */
  readonly eventTypes: readonly string[] | null;
  readonly disabledReason: DisabledReason | null;
  readonly isReplaying: boolean;
  readonly createdAt: Date;
}

/** When the last of these secrets expires. `undefined`: there is none. */
export function lastEnd(secrets: readonly PreviousSecret[]): Date | undefined {
  return secrets.map(({ expiresAt }) => expiresAt).reduce<Date | undefined>((a, b) => (a && a > b ? a : b), undefined);
}
