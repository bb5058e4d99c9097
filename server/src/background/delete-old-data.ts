import { deleteOldIdentifiers } from '../appointments/identified/store.ts';
import { deleteOldFailures } from '../clients/shared-failures.ts';
import type { Configuration } from '../config/configuration.ts';
import { deleteOldCounts } from '../confirmations/limits.ts';
import { deleteOldConfirmations, deleteUsedCodes } from '../confirmations/retention.ts';
import { deleteOldConsoleData } from '../console/sign-in/sessions.ts';
import type { Db } from '../db/kysely.ts';
import { deleteOldEvents } from '../events/retention.ts';
import { mergeProcesses } from '../history/merge-processes.ts';
import { deleteOldHistory } from '../history/retention.ts';
import { rollUp } from '../history/roll-up.ts';
import { deleteExpiredContent, deleteOldMessages } from '../messages/retention.ts';
import { deleteOldAssertions } from '../oauth/used-assertions.ts';
import { deleteOldTimeslots } from '../slot-search/kept.ts';
import { deleteEndedWatches } from '../timeslots/watches/store.ts';
import { deleteOldUploads } from '../uploads/remove-uploads.ts';
import { deleteOldWrites } from '../writes/stored-write.ts';

/** Batch size for each kind of row, so that no statement takes long. */
const atOnce = 1_000;
/** An upload has many chunks. */
const uploadsAtOnce = 50;

/** Deletes data whose retention period has ended, after it was counted for the history. */
export async function deleteOldData(db: Db, retention: Configuration['retention'], limit = atOnce): Promise<void> {
  while (await rollUp(db));
  while (await mergeProcesses(db));
  await deleteOldWrites(db, limit);
  await deleteOldUploads(db, Math.min(limit, uploadsAtOnce));
  await deleteUsedCodes(db, limit);
  await deleteExpiredContent(db, limit);
  await deleteOldMessages(db, retention.confirmation_days, limit);
  await deleteOldEvents(db, retention.event_days, limit);
  await deleteOldIdentifiers(db, retention.event_days, limit);
  await deleteOldConfirmations(db, retention.confirmation_days, limit);
  await deleteOldConsoleData(db, limit);
  await deleteOldHistory(db, limit);
  // As many as callers send in ten seconds, who need no credentials for the second kind.
  while (await deleteOldAssertions(db, limit));
  while (await deleteOldFailures(db, limit));
  await deleteOldCounts(db, limit);
  while (await deleteOldTimeslots(db, limit));
  while (await deleteEndedWatches(db, limit));
}
