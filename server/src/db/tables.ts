import type { ConfirmationTables } from '../confirmations/tables.ts';
import type { MessageTables } from '../messages/tables.ts';
import type { OperationTables } from '../operations/table.ts';
import type { SecretKeyTables } from '../secrets/tables.ts';

/** The tables of the gateway. Each feature declares its own tables. */
export interface Tables extends ConfirmationTables, MessageTables, OperationTables, SecretKeyTables {}
