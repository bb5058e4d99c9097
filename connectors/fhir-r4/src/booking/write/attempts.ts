import { setTimeout as pause } from 'node:timers/promises';
import {
  type Appointment,
  type AppointmentChange,
  type AppointmentWrite,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { completed } from '../../appointments/completion.ts';
import type { FhirAppointment } from '../../fhir.ts';
import { toAppointment } from '../../mappers/appointment.ts';
import { readGroupId, viewAfter } from '../../mappers/group.ts';
import type { BookingConnection, FhirConnection } from '../../server/connection.ts';
import type { ChangeOnSlots } from '../changes/single.ts';
import { creationKey } from '../operation-ids.ts';
import { writeAppointment } from './appointment.ts';
import {
  afterWriting,
  FinalError,
  isTimeTaken,
  isUnknown,
  LostRace,
  NoKnownSlots,
  nothingChanged,
  OperationInProgress,
  unknownOutcome,
} from './outcomes.ts';
import { bodyOf } from './own-body.ts';
import { areFree, settled } from './settle.ts';

const attempts = 10;
/**
 * How many attempts wait for another call with the same operation id. After that, the other call counts as interrupted.
 */
const mostWaits = 5;

export interface PlanOptions {
  readonly isFirstAttempt: boolean;
  /** Whether to take over slots that another call with this operation id has claimed. */
  readonly takeOver: boolean;
}

/** What a booking mode does in one attempt. */
export interface WriteSteps<Plan> {
  /**
   * The appointments that an earlier request with this operation id wrote, in the order of its changes. `null` for a
   * server that does not keep operation ids.
   */
  readonly findDone: ((operationId: string) => Promise<readonly FhirAppointment[]>) | null;
  /** Reads what the write needs, and decides what to write. Changes nothing in the EHR. */
  plan(write: AppointmentWrite, options: PlanOptions): Promise<Plan>;
  /** Writes the whole plan or nothing. Returns an appointment for each change, in order. */
  execute(plan: Plan, write: AppointmentWrite): Promise<readonly FhirAppointment[]>;
}

/**
 * Makes a write: looks up whether the operation is already done, plans it, and executes the plan. Starts again if a
 * resource changed in between or a request timed out.
 *
 * A write without a response is never sent again before its operation id has been looked up. A repeated write carries the
 * versions that were read in its attempt, so it cannot be done twice. The first attempt of a first call needs no look-up,
 * because nothing was sent before it.
 */
export async function changeAppointments<Plan>(
  ehr: FhirConnection,
  write: AppointmentWrite,
  { findDone, plan: planWrite, execute }: WriteSteps<Plan>,
): Promise<readonly Appointment[]> {
  let uncertain: unknown;
  let mayBeOutdated = true;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const isFirstAttempt = attempt === 1;
    const look = findDone && !(isFirstAttempt && write.isFirst) ? findDone : async () => [];
    try {
      const takeOver = attempt > mostWaits;
      const directory = ehr.directory.known(write.careUnit);
      const planning = planWrite(write, { isFirstAttempt, takeOver }).then(
        (plan) => ({ plan }),
        (error: unknown) => ({ error }),
      );
      // The look-up then sees everything that the other call did before the plan. Its later writes fail because of a
      // version.
      if (takeOver) await planning;
      const [done, planned] = await Promise.all([look(write.operationId), planning]);
      if (done.length > 0) return await mapped(ehr, write.careUnit, done);
      if ('error' in planned) {
        // Another gateway, or the staff, may have created the schedule since the directory was read.
        const isNewer = async () => (await ehr.directory.fresh(write.careUnit)) !== directory;
        if (!mayBeOutdated || !isMissing(planned.error) || !(await isNewer())) throw planned.error;
        mayBeOutdated = false;
        continue;
      }
      const written = await execute(planned.plan, write);
      if (!written.every((it, index) => isOfChange(it, write.changes[index]))) throw unknownOutcome();
      const seen = written.map((it, index) =>
        viewAfter(it, creationKey(write.operationId, index, write.changes.length)),
      );
      return await mapped(ehr, write.careUnit, seen);
    } catch (error) {
      if (error instanceof FinalError) throw error;
      if (isUnknown(error)) {
        uncertain = error;
        if (!findDone) throw unknownOutcome(error);
      } else if (!(error instanceof LostRace) && !(error instanceof OperationInProgress)) {
        // Another call with this operation id may have finished between the look-up and the plan.
        const ask = async () => (isTimeTaken(error) ? look(write.operationId) : []);
        const doneNow = await (uncertain === undefined ? ask() : afterWriting(ask));
        if (doneNow.length > 0) return await mapped(ehr, write.careUnit, doneNow);
        if (uncertain === undefined || !(error instanceof ConnectorError)) throw error;
        // The look-up has not found the write, and the versions that it carried are out of date.
        throw isDecision(error) ? nothingChanged(error) : unknownOutcome(uncertain);
      }
      // A random pause, so that two calls that conflicted do not conflict again.
      await pause(Math.random() * 40 * attempt + (error instanceof OperationInProgress ? 100 : 5));
    }
  }
  if (uncertain !== undefined) throw unknownOutcome(uncertain);
  throw new ConnectorError('unavailable', 'The appointments kept changing during the write; nothing was written');
}

/** Whether a directory that was read later could have what was looked for. It does not free a time that is taken. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof ConnectorError)) return false;
  return (
    error instanceof NoKnownSlots ||
    error.kind === 'resource_not_found' ||
    error.kind === 'healthcare_service_not_found'
  );
}

/** Whether it is the appointment that the change names. */
function isOfChange({ id }: FhirAppointment, change: AppointmentChange | undefined): boolean {
  return change === undefined || change.kind === 'create' || readGroupId(change.appointmentId).id === id;
}

/** Whether an error decides the write itself. A rejected read decides nothing about a write that was sent before it. */
function isDecision({ kind }: ConnectorError): boolean {
  return kind !== 'unavailable' && kind !== 'rejected' && kind !== 'unsupported';
}

async function mapped(
  ehr: FhirConnection,
  careUnit: CareUnit,
  appointments: readonly FhirAppointment[],
): Promise<readonly Appointment[]> {
  const directory = await afterWriting(() => ehr.directory.of(careUnit));
  const whole = await afterWriting(() => completed(ehr, directory, appointments));
  return whole.map((resource) => {
    const appointment = toAppointment(resource, directory, ehr.dialect, ehr.client.clock);
    // The write is done, but the stored appointment cannot be mapped. Only a look-up can find out more.
    if (!appointment) throw unknownOutcome();
    return appointment;
  });
}

/** Creates or changes the Appointment, and lets the server check its Slots. */
export async function runCheckedWrite(ehr: BookingConnection, change: ChangeOnSlots): Promise<FhirAppointment> {
  const { before, after, takes } = change;
  // It is cancelled already.
  if (before && after === before) return before;
  const isOpen = takes.length > 0 ? () => areFree(ehr, change) : undefined;
  const work = () => writeAppointment(ehr, change, bodyOf(ehr, change));
  return settled(ehr, change, work, isOpen);
}
