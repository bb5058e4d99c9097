import type { ConnectorOperation, Withdrawal, Write } from '@crossward/connector-kit';
import type { Tx } from '../db/kysely.ts';
import { PartiallyApplied } from '../problems/write-errors.ts';
import type { DaysTaken, Work, WriteKind, WriteResponse } from '../writes/write-kind.ts';

/** How a kind of record is created, found and withdrawn in the EHR. */
interface Calls<Plan, Result> {
  /** Stored with every write. Must not change. */
  readonly name: string;
  /** The method of the port that `find` calls. An EHR without it does not find these writes by id. */
  readonly findOperation: ConnectorOperation;
  /** The EHR's id of the patient whose record it is. `null`: it is nobody's. */
  patientOf(plan: Plan): string | null;
  create(work: Work, write: Write, plan: Plan): Promise<Result>;
  find(work: Work, operationId: string, plan: Plan): Promise<Result | null>;
  /**
   * Looks for the effect of a write in an EHR without `findOperation`, by what it would have created. `null`: nothing is
   * certainly of this write. Absent: such an EHR does not have these writes.
   */
  reconcile?(work: Work, plan: Plan): Promise<Result | null>;
  withdraw(work: Work, operationId: string, plan: Plan): Promise<Withdrawal>;
  respond(work: Work, plan: Plan, result: Result): WriteResponse;
  /** Stores that the record was changed, or may have been, in the transaction that ends the write. Absent: nothing is stored. */
  note?(tx: Tx, work: Work): Promise<void>;
  /** As of a `WriteKind`. */
  readonly daysTaken?: () => DaysTaken;
  /** Deletes what the gateway stored for the plan, in the transaction that ends the write. Absent: nothing is stored. */
  cleanUp?(tx: Tx, plan: Plan): Promise<void>;
}

/**
 * A kind of write that changes one record in the EHR by one call, such as creating a medical note. Once it has ended, the
 * gateway stores nothing of the record.
 */
export function oneCallKind<Plan, Result extends object>(calls: Calls<Plan, Result>): WriteKind<Plan, Result> {
  const finds: WriteKind<Plan, Result>['findsById'] = (ehr) => ehr.offers(calls.findOperation);
  return {
    name: calls.name,
    callsEhr: () => true,
    ...(calls.daysTaken && { daysTaken: calls.daysTaken }),
    patientsOf: (plan) => [calls.patientOf(plan)].filter((id) => id !== null),
    findsById: finds,
    perform: (work, plan) =>
      calls.create(
        work,
        { operationId: work.ehrId(), careUnit: work.careUnit, onNoResponse: () => work.onNoResponse() },
        plan,
      ),
    async lookUp(work, plan) {
      if (!finds(work.ehr)) {
        const effect = await calls.reconcile?.(work, plan);
        return effect ? { outcome: effect } : 'not known';
      }
      const outcome = await calls.find(work, work.ehrId(), plan);
      return outcome ? { outcome } : 'nothing';
    },
    async compensate(work, plan) {
      const isWithdrawn = finds(work.ehr) && (await calls.withdraw(work, work.ehrId(), plan)) === 'withdrawn';
      if (!isWithdrawn) throw new PartiallyApplied([]);
    },
    hasRecords: () => calls.cleanUp !== undefined || calls.note !== undefined,
    respond: calls.respond,
    async record(tx, work, plan, result) {
      await calls.cleanUp?.(tx, plan);
      await calls.note?.(tx, work);
      return calls.respond(work, plan, result);
    },
    async cleanUp(tx, work, plan) {
      await calls.cleanUp?.(tx, plan);
      await calls.note?.(tx, work);
    },
  };
}
