import { setTimeout as pause } from 'node:timers/promises';
import { type Appointment, type AppointmentWrite, type CareUnit, ConnectorError } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import type { FhirAppointment } from '../fhir.ts';
import { toAppointment } from '../mappers/appointment.ts';
import { operationResults } from '../operation-results.ts';
import { afterWriting, isUnknown, LostRace, UnderWay, unknownOutcome } from './lost-race.ts';
import { NotAtomic } from './not-atomic.ts';
import { type Plan, planWrite } from './plan.ts';

const attempts = 10;
/** For so many attempts another call with the same operation id is waited for; then it is taken to be dead. */
const patience = 5;

/** One way to book: does what a plan says, all of it or nothing. */
export type Execute = (ehr: FhirConnection, plan: Plan, write: AppointmentWrite) => Promise<readonly FhirAppointment[]>;

/**
 * Looks whether the operation was done, plans, and executes; again from the start when somebody else was faster or the
 * EHR did not answer. A write that was not answered is never sent again before it has been looked for, and what is sent
 * again stands under the versions read then, so that it cannot be done twice.
 */
export async function changeAppointments(
  ehr: FhirConnection,
  write: AppointmentWrite,
  execute: Execute,
): Promise<readonly Appointment[]> {
  let uncertain: unknown;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      const takeOver = attempt > patience;
      const planning = planWrite(ehr, write, { takeOver }).catch((error: unknown) => ({ error }));
      // What the other call has done before the plan is seen then; what it does after fails one of the two by a version.
      if (takeOver) await planning;
      const [done, plan] = await Promise.all([
        ehr.operationLookup ? operationResults(ehr, write.operationId) : [],
        planning,
      ]);
      if (done.length > 0) return await mapped(ehr, write.careUnit, done);
      if ('error' in plan) throw plan.error;
      const appointments = await execute(ehr, plan, write);
      const inOrder = plan.order.map((place) => appointments[place] as FhirAppointment);
      return await mapped(ehr, write.careUnit, inOrder);
    } catch (error) {
      if (error instanceof NotAtomic) throw error;
      if (isUnknown(error)) {
        uncertain = error;
        if (!ehr.operationLookup) throw unknownOutcome(error);
      } else if (!(error instanceof LostRace) && !(error instanceof UnderWay)) {
        // Another call with this operation id may have come between the two looks.
        const ask = () => doneMeanwhile(ehr, write, error);
        const doneNow = await (uncertain === undefined ? ask() : afterWriting(ask));
        if (doneNow.length > 0) return await mapped(ehr, write.careUnit, doneNow);
        throw uncertain === undefined || isDecision(error) ? error : unknownOutcome(uncertain);
      }
      // So that those who lost to one another do not meet again.
      await pause(Math.random() * 40 * attempt + (error instanceof UnderWay ? 100 : 5));
    }
  }
  if (uncertain !== undefined) throw unknownOutcome(uncertain);
  throw new ConnectorError('unavailable', 'Others kept changing the same appointments; nothing was done');
}

/**
 * Whether an error says what becomes of the write itself. That the EHR refuses to be asked says nothing of what it was
 * sent before.
 */
function isDecision(error: unknown): boolean {
  if (!(error instanceof ConnectorError)) return true;
  return error.kind !== 'unavailable' && error.kind !== 'rejected' && error.kind !== 'unsupported';
}

async function doneMeanwhile(
  ehr: FhirConnection,
  { operationId }: AppointmentWrite,
  error: unknown,
): Promise<readonly FhirAppointment[]> {
  const isTaken = error instanceof ConnectorError && error.kind === 'time_slot_unavailable';
  return isTaken && ehr.operationLookup ? operationResults(ehr, operationId) : [];
}

async function mapped(
  ehr: FhirConnection,
  careUnit: CareUnit,
  appointments: readonly FhirAppointment[],
): Promise<readonly Appointment[]> {
  const directory = await afterWriting(() => ehr.directory.of(careUnit));
  return appointments.map((resource) => {
    const appointment = toAppointment(resource, directory, ehr.dialect, ehr.client.clock);
    // It has been written. What the EHR made of it can only be looked for.
    if (!appointment) throw unknownOutcome();
    return appointment;
  });
}
