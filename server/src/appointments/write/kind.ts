import { resetToPending } from '../../confirmations/store.ts';
import type { OperationKind } from '../../operations/kind.ts';
import { planEvents } from '../events.ts';
import { bodiesOf, writtenResponse } from '../representation.ts';
import { stepsOf } from '../steps-in-words.ts';
import { canPerform, changesOf, type Results } from './changes.ts';
import { compensatePlan } from './compensate.ts';
import { codesToSend } from './decision.ts';
import { lookUpPlan } from './look-up.ts';
import { performPlan } from './perform.ts';
import { type AppointmentPlan, appointmentKindName, hasRecords } from './plan.ts';
import { previewPlan } from './preview.ts';
import { isStillWanted, recordPlan, releaseReserved } from './record.ts';
import { performResend } from './resend.ts';

/** Writes to appointments for which the gateway sends the codes. */
export const appointmentKind: OperationKind<AppointmentPlan, Results> = {
  name: appointmentKindName,
  callsEhr: (plan) => changesOf(plan).length > 0,
  patientsOf: ({ steps, resend }) => [
    ...steps.flatMap(({ change, before, awaits }) => [
      ...(change?.kind === 'create' ? [change.patientId] : []),
      ...(before ? [before.patientId] : []),
      ...(awaits ? [awaits.patientId] : []),
    ]),
    ...(resend ? [resend.patientId] : []),
  ],
  reservation: codesToSend,
  preview: previewPlan,
  findsOperations: (ehr) => ehr.offers('findOperation'),
  canPerform,
  perform: (work, plan) => (plan.resend ? performResend(work, plan, plan.resend) : performPlan(work, plan)),
  lookUp: lookUpPlan,
  compensate: compensatePlan,
  isWanted: isStillWanted,
  stepsOf,
  hasRecords,
  respond: (work, plan, results) => writtenResponse(work, plan, results, new Map()),
  record: recordPlan,
  events: (work, plan, results, response) => planEvents(work, plan, results, bodiesOf(response)),
  release: releaseReserved,
  drop: (tx, operationId) => resetToPending(tx, operationId),
};
