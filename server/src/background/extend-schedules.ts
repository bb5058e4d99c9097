import type { Logger } from 'pino';
import type { EhrConnection } from '../ehr/connection.ts';
import { hasOutageLines } from '../ehr/outage-log.ts';
import { describeError } from '../log/describe-error.ts';

/**
 * Adds the time slots of each care unit that have come within the EHR's horizon. The EHR stores what was done, so an
 * interrupted round is made up for by the next one, and several gateways add nothing twice.
 */
export async function extendSchedules(ehr: EhrConnection, log: Logger): Promise<void> {
  if (!ehr.isOpen || !ehr.offers('extendSchedules')) return;
  for (const careUnit of ehr.careUnits.values()) {
    await ehr.call('extendSchedules', careUnit).catch((error) => {
      const level = hasOutageLines(error) ? 'info' : 'error';
      log[level]({ emr: ehr.id, care_unit: careUnit.id, cause: describeError(error) }, 'extending schedules failed');
    });
  }
}
