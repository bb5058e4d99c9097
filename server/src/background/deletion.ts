import type { Configuration } from '../config/configuration.ts';
import { deleteOldConfirmations, forgetServedCodes } from '../confirmations/retention.ts';
import type { Db } from '../db/kysely.ts';
import { deleteOldMessages, forgetFailedContent } from '../messages/retention.ts';
import { deleteOldOperations } from '../operations/retention.ts';

/** Of each kind in one round: no statement is long, and what has piled up is gone in a while. */
const atOnce = 1_000;

/** Deletes what has served. */
export async function deleteServed(db: Db, retention: Configuration['retention'], limit = atOnce): Promise<void> {
  await deleteOldOperations(db, limit);
  await forgetServedCodes(db, limit);
  await forgetFailedContent(db, limit);
  await deleteOldMessages(db, retention.confirmation_days, limit);
  await deleteOldConfirmations(db, retention.confirmation_days, limit);
}
