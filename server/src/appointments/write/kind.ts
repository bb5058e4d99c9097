import type { OperationKind } from '../../operations/kind.ts';
import { writtenAnswer } from './answer.ts';
import { performFreshCode, recordFreshCode } from './fresh-code.ts';
import { appointmentKindName } from './kind-name.ts';
import { lookUpPlan } from './look-up.ts';
import { performPlan } from './perform.ts';
import { type AppointmentPlan, changesOf, type Results } from './plan.ts';
import { isStillAwaited, letGoOfPlan, recordPlan, remembers } from './record.ts';
import { undoPlan } from './undo.ts';

/** Writes to appointments, in an EHR that leaves codes to the gateway. */
export const appointmentKind: OperationKind<AppointmentPlan, Results> = {
  name: appointmentKindName,
  asksEhr: (plan) => changesOf(plan).length > 0,
  codesFor({ steps, freshCode }) {
    const patients = steps.flatMap(({ awaits }) => awaits?.patientId ?? []);
    return [...new Set([...patients, ...(freshCode ? [freshCode.patientId] : [])])];
  },
  perform: (work, plan) => (plan.freshCode ? performFreshCode(work, plan, plan.freshCode) : performPlan(work, plan)),
  lookUp: lookUpPlan,
  undo: undoPlan,
  isWanted: isStillAwaited,
  remembers,
  answer: (work, plan, results) => writtenAnswer(work, plan, results, new Map()),
  async record(tx, work, plan, results) {
    const made = await recordPlan(tx, work, plan, results);
    const fresh = plan.freshCode ? await recordFreshCode(tx, work, plan.freshCode) : [];
    return writtenAnswer(work, plan, results, new Map([...made, ...fresh]));
  },
  letGo: letGoOfPlan,
};
