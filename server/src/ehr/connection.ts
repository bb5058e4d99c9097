import type { Capabilities, Connector, ConnectorOperation, ConnectorOperations } from '@crossward/connector-kit';
import type { PatientLimits } from '../config/policies.ts';
import { Problem, unavailable } from '../problems/problem.ts';
import { asProblem } from './connector-problems.ts';
import type { EhrHealth, Guard } from './guard/guard.ts';
import type { Opening } from './opening.ts';

export type ConfirmationPolicy = 'none' | 'code';

export interface CareUnitConnection {
  readonly id: string;
  readonly name: string;
  readonly timeZone: string;
  readonly language: 'nb' | 'sv' | 'en';
  readonly bookingConfirmation: ConfirmationPolicy;
  readonly cancellationConfirmation: ConfirmationPolicy;
  readonly cancellationCodeByEmail: boolean;
  readonly code: { readonly length: number; readonly lifetimeSeconds: number; readonly attempts: number };
  readonly limitsPerPatient: PatientLimits;
}

/** How long is waited for an EHR, in seconds. */
export interface Patience {
  /** The longest that one call takes, its wait for a turn included. */
  readonly callSeconds: number;
  /** How long after the EHR was last asked for a write its silence says nothing. */
  readonly settlingSeconds: number;
  /** How long after a request its write may still be made. */
  readonly giveUpSeconds: number;
}

/** One EHR as the operations see it: what it is, what it can do, and the one way to ask it. */
export interface EhrConnection {
  readonly id: string;
  readonly name: string;
  /** @throws Problem `ehr_unavailable` while the EHR has never answered: nobody knows what it can do. */
  readonly capabilities: Capabilities;
  readonly isOpen: boolean;
  readonly syntheticIdentifiers: boolean;
  readonly careUnits: ReadonlyMap<string, CareUnitConnection>;
  readonly patience: Patience;
  offers(operation: ConnectorOperation): boolean;
  health(): EhrHealth;
  /**
   * Asks the EHR. No database connection may be held meanwhile.
   *
   * @throws Problem `operation_unsupported`, or what the connector's error means for a caller.
   */
  call<Operation extends ConnectorOperation>(
    operation: Operation,
    ...input: Parameters<ConnectorOperations[Operation]>
  ): ReturnType<ConnectorOperations[Operation]>;
  /** After the last call. */
  close(): Promise<void>;
}

type Facts = Omit<EhrConnection, 'capabilities' | 'isOpen' | 'offers' | 'health' | 'call'>;

export function createConnection(facts: Facts, opening: Opening, guard: Guard): EhrConnection {
  const connector = (): Connector => {
    const opened = opening.current();
    if (!opened) throw unavailable('ehr_unavailable', { retryAfterSeconds: opening.retryAfterSeconds() });
    return opened;
  };
  return {
    ...facts,
    get capabilities() {
      return connector().capabilities;
    },
    get isOpen() {
      return opening.current() !== undefined;
    },
    offers: (operation) => connector()[operation] !== undefined,
    health: guard.health,
    call: <Operation extends ConnectorOperation>(
      operation: Operation,
      ...input: Parameters<ConnectorOperations[Operation]>
    ) => ask(guard, operation, () => connector()[operation], input) as ReturnType<ConnectorOperations[Operation]>,
  };
}

/** Arrow functions of the mapped type do not survive a union of operations, hence the loose signature. */
async function ask(
  guard: Guard,
  operation: ConnectorOperation,
  find: () => unknown,
  input: readonly unknown[],
): Promise<unknown> {
  const method = find();
  if (typeof method !== 'function') throw new Problem('operation_unsupported');
  try {
    return await guard.run(operation, async () => method(...input));
  } catch (error) {
    throw asProblem(error);
  }
}
