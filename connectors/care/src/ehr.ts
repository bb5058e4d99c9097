import {
  type CareUnit,
  type ConnectorContext,
  ConnectorError,
  type InTurn,
  type LeftOutRecord,
  turnsInProcess,
} from '@crossward/connector-kit';
import { type Directory, type KeptLists, keptLists, ofCareUnits } from '@crossward/connector-kit/rest';
import { type CareClient, createClient } from './client.ts';
import { readLists } from './directory.ts';
import { type CareSettings, type CareUnitSettings, careUnitSettings } from './settings.ts';

/** What the operations share. */
export interface Ehr {
  readonly client: CareClient;
  readonly settings: CareSettings;
  readonly lists: KeptLists<Directory>;
  readonly inTurn: InTurn;
  unitOf(careUnit: CareUnit): CareUnitSettings;
  now(): Date;
  leftOut(record: LeftOutRecord): void;
}

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<CareSettings>): Ehr {
  const { http, settings, careUnits, now, leftOut = () => undefined, inTurn = turnsInProcess() } = context;
  const unitOf = ofCareUnits(careUnits, careUnitSettings, withoutRepetition);
  const client = createClient(http, settings, now);
  const lists = keptLists((careUnit) => readLists(client, unitOf(careUnit), leftOut));
  return { client, settings, lists, inTurn, unitOf, now, leftOut };
}

function withoutRepetition(settings: CareUnitSettings, id: string): CareUnitSettings {
  const services = settings.healthcare_services ?? [];
  for (const values of [services.map((it) => it.id), services.flatMap((it) => it.availabilities)]) {
    if (new Set(values).size < values.length) {
      throw new ConnectorError('rejected', `Care unit ${id} names a healthcare service or an availability twice`);
    }
  }
  return settings;
}
