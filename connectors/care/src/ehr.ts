import { type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import { type Directory, type OpenEhr, openEhrWith } from '@crossward/connector-kit/rest';
import { type CareClient, createClient } from './client.ts';
import { readLists } from './directory.ts';
import { type CareSettings, type CareUnitSettings, careUnitSettings } from './settings.ts';

/** What the operations share. */
export type Ehr = OpenEhr<CareSettings, CareUnitSettings, CareClient, Directory>;

/** Opens without asking the server. @throws ConnectorError if the settings of a care unit are invalid */
export function openEhr(context: ConnectorContext<CareSettings>): Ehr {
  return openEhrWith(context, { unitSchema: careUnitSettings, checkUnit, createClient, readLists });
}

function checkUnit({ healthcare_services: services = [] }: CareUnitSettings, id: string): void {
  for (const values of [services.map((it) => it.id), services.flatMap((it) => it.availabilities)]) {
    if (new Set(values).size < values.length) {
      throw new ConnectorError('rejected', `Care unit ${id} names a healthcare service or an availability twice`);
    }
  }
}
