import type { Capabilities, Connector, ConnectorOperation, ConnectorOperations } from '@crossward/connector-kit';
import type { PatientLimits } from '../confirmations/limits.ts';
import { Problem } from '../problems/problem.ts';
import { asProblem } from './connector-problems.ts';

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

/** One EHR as the operations see it: what it is, what it can do, and the one way to ask it. */
export interface EhrConnection {
  readonly id: string;
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly syntheticIdentifiers: boolean;
  readonly careUnits: ReadonlyMap<string, CareUnitConnection>;
  offers(operation: ConnectorOperation): boolean;
  /**
   * Asks the EHR. No database connection may be held meanwhile.
   *
   * @throws Problem `operation_unsupported`, or what the connector's error means for a caller.
   */
  call<Operation extends ConnectorOperation>(
    operation: Operation,
    ...input: Parameters<ConnectorOperations[Operation]>
  ): ReturnType<ConnectorOperations[Operation]>;
}

export function createConnection(
  facts: Omit<EhrConnection, 'capabilities' | 'offers' | 'call'>,
  connector: Connector,
): EhrConnection {
  return {
    ...facts,
    capabilities: connector.capabilities,
    offers: (operation) => connector[operation] !== undefined,
    call: <Operation extends ConnectorOperation>(
      operation: Operation,
      ...input: Parameters<ConnectorOperations[Operation]>
    ) => ask(connector[operation], input) as ReturnType<ConnectorOperations[Operation]>,
  };
}

/** Arrow functions of the mapped type do not survive a union of operations, hence the loose signature. */
async function ask(method: unknown, input: readonly unknown[]): Promise<unknown> {
  if (typeof method !== 'function') throw new Problem('operation_unsupported');
  try {
    return await method(...input);
  } catch (error) {
    throw asProblem(error);
  }
}
