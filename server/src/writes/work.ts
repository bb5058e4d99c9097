import type { ConnectorOperation, ConnectorOperations } from '@crossward/connector-kit';
import { beganWrite, reachedPatient, reachedRecords, within } from '../context/work-context.ts';
import { leaseEnd, setLeased } from '../db/write-lease.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { uuidOf } from '../identifiers/uuid.ts';
import { sinceBoot } from '../time/since-boot.ts';
import type { EhrState, EndEvent } from './end-table.ts';
import type { Leased } from './stored-write.ts';
import type { AnyKind, InCareUnit, Work, WriteServices } from './write-kind.ts';

/** Margin of a lease over the longest call under it. */
const marginSeconds = 5;

/**
 * A lease outlasts one call to the EHR, including the time in the queue. A call that sends content lasts longer: its time-out
 * starts again with each part, and so does the lease (`Work.underLease`).
 */
export function leaseSeconds({ times }: Pick<EhrConnection, 'times'>): number {
  return times.callSeconds + marginSeconds;
}

/** A write that this process works on, with its plan. */
export interface LeasedWork extends Work {
  readonly services: WriteServices;
  readonly leased: Leased;
  readonly kind: AnyKind;
  readonly plan: unknown;
  /** A caller waits for the response, and gets `outcome_unknown` if needed. Without one, background recovery tries again. */
  readonly hasCaller: boolean;
  /** What the EHR may still do: make the write late, or if it has made it, a second time. */
  ehrState(event: EndEvent): EhrState;
}

interface Begun extends InCareUnit, Pick<LeasedWork, 'kind' | 'plan' | 'expiresAt' | 'isFirst' | 'hasCaller'> {
  /** When the lease was requested, by `sinceBoot`: leases go on while the machine is suspended. */
  readonly leasedAt: number;
}

export function leasedWork(services: WriteServices, leased: Leased, { leasedAt, ...begun }: Begun): LeasedWork {
  const { ehr, kind, plan, isFirst } = begun;
  beganWrite(leased.id);
  let leaseBegan = leasedAt;
  let wasCompensated = false;
  let hadNoResponse = false;

  async function keepLease(): Promise<void> {
    const usedSeconds = (sinceBoot() - leaseBegan) / 1000;
    if (usedSeconds <= marginSeconds) return;
    leaseBegan = sinceBoot();
    const until = leaseEnd(leaseSeconds(ehr));
    await setLeased(services.db, leased, { lease_expires_at: until, next_attempt_at: until });
  }

  async function call<Operation extends ConnectorOperation>(
    name: Operation,
    ...input: Parameters<ConnectorOperations[Operation]>
  ) {
    await keepLease();
    // The machine may be suspended while the call waits for its turn, and the lease may be lost meanwhile.
    const result = await within({ lastCheck: keepLease }, () => ehr.call(name, ...input));
    reachedPatient(...kind.patientsOf(plan).map((value) => ({ type: 'emr_id', value })));
    reachedRecords(result);
    return result;
  }

  return {
    ...begun,
    services,
    leased,
    clientId: leased.clientId,
    writeId: leased.id,
    ehrId: (part) => ehrOperationId(leased.id, leased.attempt, part),
    call: call as EhrConnection['call'],
    async *underLease(content) {
      for await (const chunk of content) {
        await keepLease();
        yield chunk;
      }
    },
    async compensating() {
      if (wasCompensated) return;
      await setLeased(services.db, leased, { state: 'compensating' });
      wasCompensated = true;
    },
    onNoResponse() {
      hadNoResponse = true;
    },
    ehrState(event) {
      if (wasCompensated) return 'undone';
      const mayBeLate =
        event === 'made'
          ? hadNoResponse || (!isFirst && ehr.isOpen && ehr.capabilities.repeatsLateWrites === true)
          : !isFirst && !ehr.offers('settleChanges');
      return mayBeLate ? 'late' : 'done';
    },
  };
}

/**
 * The id that the EHR gets for an attempt at a write or for one part of it. The first attempt as a whole has the write's own id.
 *
 * @internal for the tests with any write
 */
export function ehrOperationId(id: string, attempt: number, part: number | string | undefined): string {
  return attempt === 0 && part === undefined ? id : uuidOf(JSON.stringify([id, attempt, part ?? null]));
}
