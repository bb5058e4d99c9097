import { writeEvents } from '../../events/write-events.ts';
import type { WriteKind } from '../../writes/write-kind.ts';
import type { Results, StepRules } from '../write/changes.ts';
import { compensatePlan, NotCompensated } from '../write/compensate.ts';
import { appointmentKind } from '../write/kind.ts';
import { lookUpPlan } from '../write/look-up.ts';
import { performPlan } from '../write/perform-plan.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { cleanUpPlan, recordPlan } from '../write/record.ts';
import { bookedAgain, movedBack, moveOutcome } from './compensation.ts';
import { eventsOfMoves } from './events.ts';
import { unfinishedMoves } from './moves.ts';
import { recordMoves } from './record.ts';
import { assertStillThere } from './still-there.ts';

const rules: StepRules = {
  beforeCall: assertStillThere,
  compensation: bookedAgain,
  compensated: movedBack,
  outcome: moveOutcome,
};

/** Writes whose moves give new ids: what they do besides, or otherwise than, other writes to appointments. */
export const rebookingKind: WriteKind<AppointmentPlan, Results> = {
  ...appointmentKind,
  perform: (work, plan) => performPlan(work, plan, rules),
  lookUp: (work, plan) => lookUpPlan(work, plan, unfinishedMoves),
  compensate: (work, plan) => compensatePlan(work, plan, rules),
  hasRecords: () => true,
  async record(tx, work, plan, results) {
    await recordMoves(tx, work, plan, results);
    return recordPlan(tx, work, plan, results);
  },
  events: (work, plan, results, response) => [
    ...(appointmentKind.events?.(work, plan, results, response) ?? []),
    ...eventsOfMoves(work, plan, results),
  ],
  async cleanUp(tx, work, plan, problem) {
    await cleanUpPlan(tx, work, plan, problem);
    if (!(problem instanceof NotCompensated)) return;
    await writeEvents(tx, eventsOfMoves(work, plan, problem.uncompensated));
    await recordMoves(tx, work, plan, problem.uncompensated);
  },
};
