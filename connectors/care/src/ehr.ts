import {
  type CareUnit,
  type ConnectorContext,
  ConnectorError,
  type InTurn,
  type LeftOutRecord,
  turnsInProcess,
} from '@crossward/connector-kit';
import { type KeptLists, keptLists } from '@crossward/connector-kit/rest';
import { Check } from 'typebox/value';
import { type CareClient, createClient } from './client.ts';
import { type CareLists, readLists } from './directory.ts';
import { type CareSettings, type CareUnitSettings, careUnitSettings } from './settings.ts';

/** What the operations share. */
export interface Ehr {
  readonly client: CareClient;
  readonly settings: CareSettings;
  readonly lists: KeptLists<CareLists>;
  readonly inTurn: InTurn;
  unitOf(careUnit: CareUnit): CareUnitSettings;
  now(): Date;
  leftOut(record: LeftOutRecord): void;
}

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<CareSettings>): Ehr {
  const { http, settings, careUnits, now, leftOut = () => undefined, inTurn = turnsInProcess() } = context;
  const units = new Map(careUnits.map(({ id, settings: own }) => [id, unitIn(id, own)]));
  const client = createClient(http, settings, now);
  function unitOf({ id }: CareUnit): CareUnitSettings {
    const unit = units.get(id);
    if (!unit) throw new ConnectorError('rejected', 'The care unit is not configured');
    return unit;
  }
  const lists = keptLists((careUnit) => readLists(client, unitOf(careUnit), leftOut));
  return { client, settings, lists, inTurn, unitOf, now, leftOut };
}

function unitIn(id: string, settings: unknown): CareUnitSettings {
  if (!Check(careUnitSettings, settings)) {
    throw new ConnectorError('rejected', `Care unit ${id} needs settings with the id of its facility`);
  }
  const services = settings.healthcare_services ?? [];
  for (const values of [services.map((it) => it.id), services.flatMap((it) => it.availabilities)]) {
    if (new Set(values).size < values.length) {
      throw new ConnectorError('rejected', `Care unit ${id} names a healthcare service or an availability twice`);
    }
  }
  return settings;
}
