import type { Db } from '../db/kysely.ts';
import type { AuditSubject } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-keys.ts';

/** The position and hash of the last row of a chain, or of a part of it. */
export interface Head {
  readonly position: number;
  readonly hash: Buffer;
}

/** Before the first row. */
export const beginning: Head = { position: 0, hash: Buffer.alloc(32) };

/** The place of a row in a chain. */
export interface ChainPosition {
  readonly chain_id: string;
  readonly position: number;
}

export interface Linked extends ChainPosition {
  readonly hash: Buffer;
  readonly at: Date;
}

/** Rows of one kind that are linked into chains: accesses, or what operators did. */
export interface Linkable<Row, LinkedRow extends Row & Linked> {
  readonly subject: AuditSubject;
  /** Everything that the row says, its place included, as text. Two rows never have the same text. */
  readonly textOf: (row: Row, place: ChainPosition) => string;
  /** The rows of a chain behind a position, in their order. */
  readLinked(db: Db, chainId: string, behind: number, limit: number): Promise<LinkedRow[]>;
}

/** The hash of a row: it depends on every column, and on all rows before. */
export function hashOf<Row>(
  key: AuditKey,
  previous: Buffer,
  { textOf }: Pick<Linkable<Row, never>, 'textOf'>,
  row: Row,
  place: ChainPosition,
): Buffer {
  return key.chain(previous, textOf(row, place));
}
