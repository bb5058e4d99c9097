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
  readonly inTurn: InTurn;
  now(): Date;
  leftOut(record: LeftOutRecord): void;
  /** @throws ConnectorError `rejected` for a care unit that is not configured */
  at(careUnit: CareUnit): AtCareUnit<Settings, Unit, Client, Lists>;
}

/** What the operations share at one care unit. */
export interface AtCareUnit<Settings, Unit, Client, Lists> extends OpenEhr<Settings, Unit, Client, Lists> {
  readonly careUnit: CareUnit;
  /** What `unitOf` has made of the settings of the care unit. */
  readonly unit: Unit;
  readonly lists: KeptLists<Lists>;
}

/** A context from which nothing is absent that operations share. */
export type OpenContext<Settings> = ConnectorContext<Settings> &
  Pick<OpenEhr<Settings, never, never, never>, 'inTurn' | 'leftOut'>;

interface EhrParts<Settings, Schema extends TSchema, Unit, Client, Lists> {
  /** Of the settings of a care unit. */
  readonly unitSchema: Schema;
  /** Throws a ConnectorError for settings of a care unit that do not suit each other. Absent: the settings as they are. */
  unitOf?(settings: Static<Schema>, id: string): Unit;
  createClient(context: OpenContext<Settings>): Client;
  readLists(at: AtCareUnit<Settings, Unit, Client, Lists>): Promise<Lists>;
}

/** Opens without asking the server. @throws ConnectorError `rejected` if the settings of a care unit are invalid */
export function openEhrWith<Settings, Schema extends TSchema, Client, Lists, Unit = Static<Schema>>(
  { inTurn = turnsInProcess(), leftOut = () => undefined, ...context }: ConnectorContext<Settings>,
  { unitSchema, unitOf, createClient, readLists }: EhrParts<Settings, Schema, Unit, Client, Lists>,
): OpenEhr<Settings, Unit, Client, Lists> {
  const { settings, careUnits, now } = context;
  const client = createClient({ ...context, inTurn, leftOut });
  const ehr: OpenEhr<Settings, Unit, Client, Lists> = {
    ...{ client, settings, inTurn, now, leftOut },
    at: (careUnit) => ({ ...known(careUnit), careUnit }),
  };
  const known = ofCareUnits(careUnits, unitSchema, (own, careUnit) => {
    const unit = unitOf ? unitOf(own, careUnit.id) : (own as Unit);
    return { ...ehr, unit, lists: keptLists(() => readLists(ehr.at(careUnit))) };
  });
  return ehr;
}
