import {
  type CareUnit,
  type ConnectorContext,
  ConnectorError,
  type InTurn,
  type LeftOutRecord,
  turnsInProcess,
} from '@crossward/connector-kit';
import { instantIn, type KeptLists, keptLists } from '@crossward/connector-kit/rest';
import { Check } from 'typebox/value';
import { createClient, type OscarClient } from './client.ts';
import { type OscarLists, readLists } from './directory.ts';
import { type CareUnitSettings, careUnitSettings, type OscarSettings } from './settings.ts';

/** What the operations share. */
export interface Ehr {
  readonly client: OscarClient;
  readonly settings: OscarSettings;
  readonly lists: KeptLists<OscarLists>;
  readonly inTurn: InTurn;
  unitOf(careUnit: CareUnit): CareUnitSettings;
  now(): Date;
  leftOut(record: LeftOutRecord): void;
}

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<OscarSettings>): Ehr {
  const { http, settings, careUnits, now, leftOut = () => undefined, inTurn = turnsInProcess() } = context;
  const units = new Map(careUnits.map(({ id, settings: own }) => [id, unitIn(id, own)]));
  const booked = [...units.values()].flatMap(({ providers }) => providers);
  if (new Set(booked).size < booked.length) throw new ConnectorError('rejected', 'A provider is in two care units');
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
    throw new ConnectorError('rejected', `Care unit ${id} needs settings with providers and codes`);
  }
  if (new Set(settings.codes.map(({ code }) => code)).size < settings.codes.length) {
    throw new ConnectorError('rejected', `Care unit ${id} names a code twice`);
  }
  return settings;
}

/** By the clock of the server, which sets the times of changes, in whole seconds. */
export async function serverTime({ client }: Pick<Ehr, 'client'>): Promise<Date> {
  const [answer] = await client.ask('SystemInfo.getServerTime');
  const time = instantIn(answer?.text);
  if (!time) throw new ConnectorError('rejected', 'The EHR does not say its time', { fault: true });
  return time;
}
