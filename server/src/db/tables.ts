import type { ConfirmationTables } from '../confirmations/tables.ts';
import type { IdempotencyTables } from '../idempotency/tables.ts';
import type { MessageTables } from '../messages/tables.ts';
import type { SecretKeyTables } from '../secrets/tables.ts';
import type { WriteTables } from '../writes/tables.ts';

/** The gateway's own tables. Each feature declares its own beside its repository. */
export interface Tables extends ConfirmationTables, IdempotencyTables, MessageTables, SecretKeyTables, WriteTables {}
