import type { Selectable } from 'kysely';
import type { ClientTables } from '../db/tables/clients.ts';

/** Previous secrets of a client that are valid at a time. */
export const mostPrevious = 5;

interface PreviousSecret {
  readonly hash: Buffer;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The columns with the previous secrets. */
export const previousColumns = [
  'previous_secret_hash',
  'previous_secret_created_at',
  'previous_secret_expires_at',
  'earlier_secrets',
] as const;

export type PreviousInRow = Pick<Selectable<ClientTables['clients']>, (typeof previousColumns)[number]>;

/** The previous secrets, the newest first, also those that have expired since the last rotation. */
export function previousSecrets(row: PreviousInRow): PreviousSecret[] {
  const {
    previous_secret_hash: hash,
    previous_secret_created_at: createdAt,
    previous_secret_expires_at: expiresAt,
  } = row;
  if (!hash || !createdAt || !expiresAt) return [];
  const earlier = row.earlier_secrets.map((it) => ({
    hash: Buffer.from(it.hash, 'hex'),
    createdAt: new Date(it.created_at),
    expiresAt: new Date(it.expires_at),
  }));
  return [{ hash, createdAt, expiresAt }, ...earlier];
}

/** The value of `earlier_secrets`. */
export function earlierSecrets(secrets: readonly PreviousSecret[]): string {
  return JSON.stringify(
    secrets.map(({ hash, createdAt, expiresAt }) => ({
      hash: hash.toString('hex'),
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    })),
  );
}
