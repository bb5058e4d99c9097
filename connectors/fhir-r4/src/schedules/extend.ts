import { type CareUnit, ConnectorError } from '@crossward/connector-kit';
import { type FhirSchedule, referenceTo } from '../fhir.ts';
import { ownScheduleOf } from '../mappers/schedule.ts';
import type { FhirConnection } from '../server/connection.ts';
import { grow, horizonOf, isDue } from './grow.ts';

/**
 * Adds the slots that have come within the horizon since. A creation that was interrupted is left to its operation. A
 * schedule that fails does not keep the others from growing.
 *
 * @throws the first error, when the others have grown or the EHR is unavailable
 */
export async function extendSchedules(ehr: FhirConnection, careUnit: CareUnit): Promise<void> {
  const directory = await ehr.directory.of(careUnit);
  const horizon = horizonOf(ehr);
  const errors: unknown[] = [];
  for (const schedule of await ehr.client.readMany<FhirSchedule>(directory.schedulesOf(undefined))) {
    const own = ownScheduleOf(schedule);
    if (schedule.active === false || !own?.isReady || !isDue(ehr, own)) continue;
    try {
      await grow(ehr, careUnit, referenceTo(schedule), horizon);
    } catch (error) {
      errors.push(error);
      if (error instanceof ConnectorError && error.kind === 'unavailable') break;
    }
  }
  if (errors.length > 0) throw errors[0];
}
