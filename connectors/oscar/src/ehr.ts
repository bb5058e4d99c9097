import { type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import { instantIn, type OpenEhr, openEhrWith } from '@crossward/connector-kit/rest';
import { createClient, type OscarClient } from './client.ts';
import { type OscarLists, readLists } from './directory.ts';
import { type CareUnitSettings, careUnitSettings, type OscarSettings } from './settings.ts';

/** What the operations share. */
export type Ehr = OpenEhr<OscarSettings, CareUnitSettings, OscarClient, OscarLists>;

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<OscarSettings>): Ehr {
  const ehr = openEhrWith(context, { unitSchema: careUnitSettings, checkUnit, createClient, readLists });
  const booked = context.careUnits.flatMap((it) => ehr.unitOf(it).providers);
  if (new Set(booked).size < booked.length) throw new ConnectorError('rejected', 'A provider is in two care units');
  return ehr;
}

function checkUnit({ codes }: CareUnitSettings, id: string): void {
  if (new Set(codes.map(({ code }) => code)).size === codes.length) return;
  throw new ConnectorError('rejected', `Care unit ${id} names a code twice`);
}

/** By the clock of the server, which sets the times of changes, in whole seconds. */
export async function serverTime({ client }: Pick<Ehr, 'client'>): Promise<Date> {
  const [answer] = await client.ask('SystemInfo.getServerTime');
  const time = instantIn(answer?.text);
  if (!time) throw new ConnectorError('rejected', 'The EHR does not say its time', { fault: true });
  return time;
}
