import type { StatelessConnectorModule } from '@crossward/connector-kit';
import { type OscarSettings, oscarSettings } from './settings.ts';

/** OSCAR EMR and OpenO EMR: https://github.com/openo-beta/Open-O */
export const oscarConnector: StatelessConnectorModule<OscarSettings> = {
  name: 'oscar',
  title: 'OSCAR EMR or OpenO EMR (Canada)',
  settingsSchema: oscarSettings,
  open: async (context) => (await import('./open.ts')).open(context),
  probe: async (context) => (await import('./probe.ts')).probe(context),
};
