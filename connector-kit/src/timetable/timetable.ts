import type { Schedule } from '../schedules.ts';

/** What determines the times of a schedule. */
export type Timetable = Pick<
  Schedule,
  'localStart' | 'localEnd' | 'slotMinutes' | 'recurrence' | 'endsAt' | 'exceptions'
>;
