import type { CareUnit } from '@crossward/connector-kit';
import { isSameTime, timeTaken } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { recordId } from '../rpc/values.ts';
import type { TimedRow } from './record.ts';
import { rowsAt } from './times.ts';

export interface Target {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

/**
 * The free row at this time. Of several, the one with the lowest id, so that all callers want the same.
 *
 * @param ownId the appointment that moves: its own time counts as free
 * @throws ConnectorError `time_slot_unavailable`
 */
export async function freeRowAt(ehr: Ehr, careUnit: CareUnit, target: Target, ownId?: number): Promise<TimedRow> {
  const { start, end } = target;
  const professional = recordId(target.resourceId);
  const speciality = recordId(target.healthcareServiceId);
  if (professional === undefined || speciality === undefined || start >= end || start <= ehr.now()) throw timeTaken();
  const institution = ehr.directory.institutionOf(careUnit);
  const rows = await rowsAt(ehr.rpc, ehr.settings, [professional], { start, end });
  if (rows.taken.some(({ id }) => id !== ownId)) throw timeTaken();
  const row = rows.free.find(
    (it) => it.institution === institution && it.speciality === speciality && isSameTime(it, { start, end }),
  );
  if (!row) throw timeTaken();
  return row;
}
