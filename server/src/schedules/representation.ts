import type { Schedule } from '@crossward/connector-kit';
import { instantOf } from '@crossward/connector-kit/timetable';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { instantFormatter } from '../time/date-times.ts';
import type { ScheduleBody } from './contract.ts';

export function scheduleBody(schedule: Schedule, { timeZone }: Pick<CareUnitConnection, 'timeZone'>): ScheduleBody {
  const format = instantFormatter(timeZone);
  const at = (local: string | null) => local && format(instantOf(local, timeZone));
  return {
    id: schedule.id,
    resource_id: formatIdentifier({ type: 'emr_id', value: schedule.resourceId }),
    healthcare_service_ids: [...schedule.healthcareServiceIds],
    start: at(schedule.localStart),
    end: at(schedule.localEnd),
    slot_minutes: schedule.slotMinutes,
    recurrence: schedule.recurrence,
    ends_at: schedule.endsAt && format(schedule.endsAt),
    exceptions: schedule.exceptions.map(({ start, end }) => ({ start: format(start), end: format(end) })),
  };
}

export function schedulePath(
  ehr: Pick<EhrConnection, 'id'>,
  careUnit: Pick<CareUnitConnection, 'id'>,
  { resourceId, id }: Schedule,
): string {
  const resource = encodeURIComponent(formatIdentifier({ type: 'emr_id', value: resourceId }));
  return `/api/emrs/${ehr.id}/care-units/${careUnit.id}/resources/${resource}/schedules/${encodeURIComponent(id)}`;
}
