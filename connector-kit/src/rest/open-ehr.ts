import type { Static, TSchema } from 'typebox';
import type { ConnectorContext, LeftOutRecord } from '../connector.ts';
import { type InTurn, turnsInProcess } from '../in-turn.ts';
import type { CareUnit } from '../records.ts';
import { ofCareUnits } from './care-units.ts';
import { type KeptLists, keptLists } from './kept-lists.ts';

/** What the operations of a connector share. */
export interface OpenEhr<Settings, Unit, Client, Lists> {
  readonly client: Client;
  readonly settings: Settings;
  readonly lists: KeptLists<Lists>;
  readonly inTurn: InTurn;
  /** The settings of a care unit. */
  unitOf(careUnit: Pick<CareUnit, 'id'>): Unit;
  now(): Date;
  leftOut(record: LeftOutRecord): void;
}

interface EhrParts<Settings, Schema extends TSchema, Client, Lists> {
  /** Of the settings of a care unit. */
  readonly unitSchema: Schema;
  /** Throws a ConnectorError for settings of a care unit that do not suit each other. Absent: any do that fit the schema. */
  checkUnit?(unit: Static<Schema>, id: string): void;
  createClient(http: ConnectorContext<Settings>['http'], settings: Settings, now: () => Date): Client;
  readLists(client: Client, unit: Static<Schema>, leftOut: (record: LeftOutRecord) => void): Promise<Lists>;
}

/** Opens without asking the server. @throws ConnectorError `rejected` if the settings of a care unit are invalid */
export function openEhrWith<Settings, Schema extends TSchema, Client, Lists>(
  context: ConnectorContext<Settings>,
  { unitSchema, checkUnit, createClient, readLists }: EhrParts<Settings, Schema, Client, Lists>,
): OpenEhr<Settings, Static<Schema>, Client, Lists> {
  const { http, settings, careUnits, now, leftOut = () => undefined, inTurn = turnsInProcess() } = context;
  const unitOf = ofCareUnits(careUnits, unitSchema, (unit, id) => {
    checkUnit?.(unit, id);
    return unit;
  });
  const client = createClient(http, settings, now);
  const lists = keptLists((careUnit) => readLists(client, unitOf(careUnit), leftOut));
  return { client, settings, lists, inTurn, unitOf, now, leftOut };
}
