import type { Schedule, ScheduleCreation, ScheduleEnd, ScheduleException, Write } from '@crossward/connector-kit';
import { oneCallKind } from '../api/one-call-kind.ts';
import type { Tx } from '../db/kysely.ts';
import { inBody } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { noteSlotsChanged } from '../slot-search/kept.ts';
import type { Work } from '../writes/write-kind.ts';
import { scheduleBody, schedulePath } from './representation.ts';

export type ScheduleCreationPlan = Omit<ScheduleCreation, keyof Write>;
export type ScheduleEndPlan = Omit<ScheduleEnd, keyof Write>;
export type ScheduleExceptionPlan = Omit<ScheduleException, keyof Write>;

const lookUps = {
  patientOf: () => null,
  findOperation: 'findScheduleWrite',
  find: (work: Work, operationId: string) => work.call('findScheduleWrite', work.careUnit, operationId),
  withdraw: (work: Work, operationId: string) => work.call('withdrawSchedule', work.careUnit, operationId),
  // A schedule may have times on any day.
  daysTaken: () => ({ takesFrom: '-infinity', takesUntil: 'infinity' }),
  note: (tx: Tx, { ehr, careUnit }: Work) => noteSlotsChanged(tx, ehr.id, careUnit.id),
} as const;

export const scheduleCreationKind = oneCallKind<ScheduleCreationPlan, Schedule>({
  ...lookUps,
  name: 'schedule_creation',
  create: (work, write, plan) => work.call('createSchedule', { ...write, ...plan }).catch(throwWithPlace),
  respond: ({ ehr, careUnit }, _plan, schedule) => ({
    body: scheduleBody(schedule, careUnit),
    headers: { location: schedulePath(ehr, careUnit, schedule) },
  }),
});

export const scheduleEndKind = oneCallKind<ScheduleEndPlan, Schedule>({
  ...lookUps,
  name: 'schedule_end',
  create: (work, write, plan) => work.call('endSchedule', { ...write, ...plan }),
  respond: ({ careUnit }, _plan, schedule) => ({ body: scheduleBody(schedule, careUnit) }),
});

export const scheduleExceptionKind = oneCallKind<ScheduleExceptionPlan, Schedule>({
  ...lookUps,
  name: 'schedule_exception',
  create: (work, write, plan) => work.call('addScheduleException', { ...write, ...plan }),
  respond: ({ careUnit }, _plan, schedule) => ({ body: scheduleBody(schedule, careUnit) }),
});

/** Only the EHR knows of an overlap, and only the gateway knows its place in the request. */
function throwWithPlace(error: unknown): never {
  if (!(error instanceof Problem) || error.reason !== 'schedule_overlap') throw error;
  throw problemAt(inBody('start_time'), error.reason, error.detail);
}
