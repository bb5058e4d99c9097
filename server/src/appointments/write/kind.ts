import { patientHashes } from '../../confirmations/limits.ts';
import { resetToPending } from '../../confirmations/store.ts';
import type { OperationKind } from '../../operations/kind.ts';
import { planEvents } from '../plan-events.ts';
import { compensatePlan } from './compensate.ts';
import { appointmentKindName } from './kind-name.ts';
import { lookUpPlan } from './look-up.ts';
import { performPlan } from './perform.ts';
import { type AppointmentPlan, changesOf, patientsWithCode, type Results } from './plan.ts';
import { previewPlan } from './preview.ts';
import { hasRecords, isStillPending, recordPlan, releaseReserved } from './record.ts';
import { performResend, recordResend } from './resend.ts';
import { bodiesOf, writtenResponse } from './response.ts';
import { stepsOf } from './steps-in-words.ts';
import { canPerform } from './transaction.ts';

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
  reserves({ services, ehr, careUnit }, plan) {
    const patients = patientsWithCode(plan);
    if (patients.length === 0) return undefined;
    const patientHashesOf = patients.map((id) => patientHashes(services.keys, ehr.id, id)[0]);
    return { lifetimeSeconds: careUnit.code.lifetimeSeconds, patientHashes: patientHashesOf };
  },
  preview: previewPlan,
  findsOperations: (ehr) => ehr.offers('findOperation'),
  canPerform,
  perform: (work, plan) => (plan.resend ? performResend(work, plan, plan.resend) : performPlan(work, plan)),
  lookUp: lookUpPlan,
  compensate: compensatePlan,
  isWanted: isStillPending,
  stepsOf,
  hasRecords,
  respond: (work, plan, results) => writtenResponse(work, plan, results, new Map()),
  async record(tx, work, plan, results) {
    const made = await recordPlan(tx, work, plan, results);
    const resent = plan.resend ? await recordResend(tx, work, plan.resend) : [];
    return writtenResponse(work, plan, results, new Map([...made, ...resent]));
  },
  events: (work, plan, results, response) => planEvents(work, plan, results, bodiesOf(response)),
  release: releaseReserved,
  drop: (tx, operationId) => resetToPending(tx, operationId),
};
