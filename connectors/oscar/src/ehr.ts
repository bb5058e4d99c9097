import {
  type CareUnit,
  type ConnectorContext,
  ConnectorError,
  type InTurn,
  type LeftOutRecord,
  turnsInProcess,
} from '@crossward/connector-kit';
import { instantIn, type KeptLists, keptLists, ofCareUnits } from '@crossward/connector-kit/rest';
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
  const unitOf = ofCareUnits(careUnits, careUnitSettings, withoutRepetition);
  const booked = careUnits.flatMap((it) => unitOf(it).providers);
  if (new Set(booked).size < booked.length) throw new ConnectorError('rejected', 'A provider is in two care units');
  const client = createClient(http, settings, now);
  const lists = keptLists((careUnit) => readLists(client, unitOf(careUnit), leftOut));
  return { client, settings, lists, inTurn, unitOf, now, leftOut };
}

function withoutRepetition(settings: CareUnitSettings, id: string): CareUnitSettings {
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
