import type { Capabilities, CareUnit } from '@crossward/connector-kit';
import { type ClockChange, cutOffPool, type Facts, type Subject } from '@crossward/connector-kit/conformance';
import type { PostgresPool } from 'kysely';
import { bindEmr, type ChosenEmr } from './check-connection.ts';
import { gatewayBefore } from './gateway-before.ts';

/** What the kit is told about an EHR. */
export interface KnownOfEhr {
  readonly careUnit: CareUnit;
  readonly otherCareUnit: CareUnit | undefined;
  factsOf(claims: Capabilities): Facts;
  clockChangesOf?(facts: Facts): readonly ClockChange[];
  /** Whether appointments are also changed directly in the EHR. */
  readonly directChanges?: boolean | undefined;
}

/**
 * Opens the connector twice, as two gateways would, for the conformance kit. A restart cuts its connections to the EHR and the
 * database.
 */
export async function openSubject(
  chosen: ChosenEmr,
  { careUnit, otherCareUnit, factsOf, clockChangesOf, directChanges }: KnownOfEhr,
  database: PostgresPool | undefined,
): Promise<Subject> {
  const open = async () => {
    const pool = database && cutOffPool(database);
    const bound = await bindEmr(chosen, pool);
    const { close } = bound;
    try {
      const connector = await bound.open();
      return { connector, directChanges: bound.directChanges, close, cut: () => pool?.cut() };
    } catch (error) {
      await close();
      throw error;
    }
  };
  let first = await open();
  const facts = factsOf(first.connector.capabilities);
  const clockChanges = clockChangesOf?.(facts);
  const second = await open();
  return {
    name: `${chosen.emr.id} (${chosen.module.name})`,
    get connector() {
      return first.connector;
    },
    second: second.connector,
    careUnit,
    otherCareUnit,
    facts,
    clockChanges,
    directChanges: directChanges ? await second.directChanges() : undefined,
    async restart() {
      first.cut();
      await first.close();
      first = await open();
    },
    callGateway: gatewayBefore(() => first.connector),
    async close() {
      await first.close();
      await second.close();
    },
  };
}
