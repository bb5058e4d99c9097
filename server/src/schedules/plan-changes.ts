import type { Schedule } from '@crossward/connector-kit';
import type { Access } from '../api/endpoint.ts';
import { assertNotPast, readRange, readTime } from '../api/request-times.ts';
import { inBody } from '../problems/places.ts';
import type { ScheduleExceptionBody } from './contract.ts';
import type { ScheduleEndPlan, ScheduleExceptionPlan } from './kinds.ts';

const places = { start: inBody('start_time'), end: inBody('end_time') };
const longestExceptionHours = 366 * 24;

/** What has passed stays as it is, so the end must be in the future. */
export function planEnd(
  { careUnit }: Access,
  { resourceId, id }: Schedule,
  body: { readonly end_time: string },
): ScheduleEndPlan {
  const end = readTime(body.end_time, places.end, careUnit.timeZone);
  assertNotPast(end, places.end);
  return { resourceId, scheduleId: id, end };
}

/** What has passed stays as it is, so the period must start in the future. */
export function planException(
  { careUnit }: Access,
  { resourceId, id }: Schedule,
  body: ScheduleExceptionBody,
): ScheduleExceptionPlan {
  const text = { start: body.start_time, end: body.end_time };
  const period = readRange(text, places, careUnit.timeZone, longestExceptionHours);
  assertNotPast(period.start, places.start);
  return { resourceId, scheduleId: id, ...period };
}
