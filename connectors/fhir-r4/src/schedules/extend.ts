import type { CareUnit } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import { type FhirSchedule, referenceTo } from '../fhir.ts';
import { ownScheduleOf } from '../mappers/schedule.ts';
import { grow, horizonOf, isDue } from './grow.ts';

/** Adds the slots that have come within the horizon since. A creation that was interrupted is left to its operation. */
export async function extendSchedules(ehr: FhirConnection, careUnit: CareUnit): Promise<void> {
  const directory = await ehr.directory.of(careUnit);
  const horizon = horizonOf(ehr);
  for (const schedule of await ehr.client.readMany<FhirSchedule>(directory.schedulesOf(undefined))) {
    const own = ownScheduleOf(schedule);
    if (own?.isReady && isDue(ehr, own)) await grow(ehr, careUnit, referenceTo(schedule), horizon);
  }
}
