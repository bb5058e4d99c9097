import type { ConnectorContext } from '@crossward/connector-kit';
import { type AtCareUnit, type Directory, type OpenEhr, openEhrWith } from '@crossward/connector-kit/rest';
import { createEhrClient, type EhrClient } from './ehr-client.ts';
import { readLists } from './resources.ts';
import { type Settings, type UnitSettings, unitSchema } from './settings.ts';

/** What the operations share. */
export type Clinic = OpenEhr<Settings, UnitSettings, EhrClient, Directory>;
/** What they share at one care unit: `unit` are its settings. */
export type At = AtCareUnit<Settings, UnitSettings, EhrClient, Directory>;

/** Opens without asking the EHR, so that a gateway starts while it is away. */
export function openClinic(context: ConnectorContext<Settings>): Clinic {
  return openEhrWith(context, { unitSchema, createClient: createEhrClient, readLists });
}
