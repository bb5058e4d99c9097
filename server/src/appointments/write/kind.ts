import { resetToPending } from '../../confirmations/store.ts';
import type { WriteKind } from '../../writes/write-kind.ts';
import { planEvents } from '../events.ts';
import { bodiesOf, writtenResponse } from '../representation.ts';
import { stepsOf } from '../steps-in-words.ts';
import { canPerform, changesOf, type Results } from './changes.ts';
import { compensatePlan } from './compensate.ts';
import { codesToSend } from './decision.ts';
import { lookUpPlan } from './look-up.ts';
import { performPlan } from './perform-plan.ts';
import { type AppointmentPlan, appointmentKindName, daysTaken, hasRecords, patientsWithCode } from './plan.ts';
import { previewPlan } from './preview.ts';
import { cleanUpPlan, isStillWanted, recordPlan } from './record.ts';

/** Writes to appointments for which the gateway sends the codes. */
export const appointmentKind: WriteKind<AppointmentPlan, Results> = {
  name: appointmentKindName,
  callsEhr: (plan) => changesOf(plan).length > 0,
  patientsOf: ({ steps }) =>
    steps.flatMap(({ change, before, awaits }) => [
      ...(change?.kind === 'create' ? [change.patientId] : []),
      ...(before ? [before.patientId] : []),
      ...(awaits ? [awaits.patientId] : []),
    ]),
  reservation: (proposal, plan) => codesToSend(proposal, patientsWithCode(plan)),
  daysTaken: ({ timeZone }, plan) => daysTaken(plan, timeZone),
  preview: previewPlan,
  findsById: (ehr) => ehr.offers('findOperation'),
  canPerform,
  perform: (work, plan) => performPlan(work, plan),
  lookUp: (work, plan) => lookUpPlan(work, plan),
  compensate: (work, plan) => compensatePlan(work, plan),
  isWanted: isStillWanted,
  stepsOf,
  hasRecords,
  respond: (work, plan, results) => writtenResponse(work, plan, results, new Map()),
  record: recordPlan,
  events: (work, plan, results, response) => planEvents(work, plan, results, bodiesOf(response)),
  cleanUp: cleanUpPlan,
  drop: (tx, writeId) => resetToPending(tx, writeId),
};
