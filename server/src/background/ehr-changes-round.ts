import type { Logger } from 'pino';
import { readChanges } from '../appointments/ehr-changes/read-changes.ts';
import { reportChanges } from '../appointments/ehr-changes/report-changes.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import type { WriteServices } from '../writes/write-kind.ts';

/** Reads the changes that are made directly in an EHR, and writes their events. Returns whether there is more to do. */
export async function ehrChangesRound(services: WriteServices, ehr: EhrConnection, log: Logger): Promise<boolean> {
  const hasMore = await readChanges(services, ehr, log);
  return (await reportChanges(services, ehr)) || hasMore;
}
